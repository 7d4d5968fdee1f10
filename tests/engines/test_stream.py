"""Files of any size: answers in order, bad lines in their place, and a killed run resumes to the same file."""

import json
import signal
import subprocess
import sys

import pytest

import tiny
from engines.kinds import saved
from niwaki.core.errors import InputError
from niwaki.engines import stream
from niwaki.engines.partial_folder import ANSWERS, STATE, folders_of
from niwaki.engines.predictor import Predictor
from niwaki.engines.stream import predict_file

KILLED = """
import os, signal, sys
from pathlib import Path
from niwaki.engines import stream
from niwaki.engines import partial_output
from niwaki.engines.predictor import Predictor
folder, source, out, batch, kill_at = sys.argv[1:]
stream.BATCH, partial_output.SAVE_SECONDS = int(batch), 0
add = partial_output.PartialOutput.add
def killed(self, lines, inputs, *more):
    if self.state.inputs == int(kill_at):
        self._file.write(lines[: len(lines) // 2])  # torn
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, lines, inputs, *more)
partial_output.PartialOutput.add = killed
stream.predict_file(Predictor(Path(folder), threads=1), Path(source), Path(out), skip_bad=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved(tiny.model("averaging", seed=2), tmp_path_factory.mktemp("stream") / "model")


@pytest.fixture
def source(tmp_path):
    rows = [{"text": text, "label": label} for text, label in tiny.sentences(150, seed=4)]
    lines = [json.dumps(row if number % 3 else {**row, "id": number}) for number, row in enumerate(rows)]
    lines[7], lines[70] = "{torn", '{"text": "", "id": 70}'
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path / "in.jsonl"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(stream, "BATCH", 16)


def test_order_answers_and_bad_lines(folder, source, tmp_path, small):
    done = predict_file(Predictor(folder), source, tmp_path / "out.jsonl", skip_bad=True)
    assert (done["inputs"], done["bad"], done["before"]) == (150, 2, 0)
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    texts = [text for text, _ in tiny.sentences(150, seed=4)]
    for number, (row, text) in enumerate(zip(found, texts, strict=True)):
        if number in (7, 70):
            assert row["line"] == number + 1 and row["error"] and "label" not in row
            continue
        (answer,) = Predictor(folder, threads=1).predict([text])
        assert row == {
            **({"text": text} if number % 3 else {"id": number}),
            "label": answer.label,
            "probability": pytest.approx(answer.probability, abs=1e-6),
            "probabilities": pytest.approx(answer.probabilities, abs=1e-6),
        }
        if number == 20:
            break
    assert found[70]["id"] == 70


@pytest.mark.parametrize("kill_at", [0, 16, 96])
def test_killed_run_resumes_to_the_same_file(folder, source, tmp_path, small, kill_at):
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    words = [sys.executable, "-c", KILLED, folder, source, out, "16", str(kill_at)]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (left,) = folders_of(out)
    assert (left / ANSWERS).exists() and json.loads((left / STATE).read_text())["inputs"] == kill_at
    went_on = predict_file(Predictor(folder), source, out, skip_bad=True)
    undisturbed = predict_file(Predictor(folder), source, whole, skip_bad=True)
    assert went_on["before"] == kill_at and undisturbed["before"] == 0
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted([source, out, whole])


def test_interrupt_saves_the_state(folder, source, tmp_path, small, monkeypatch):
    out = tmp_path / "out.jsonl"
    add = stream.PartialOutput.add

    def stopped(self, *given):
        add(self, *given)
        if self.state.inputs == 48:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(stream.PartialOutput, "add", stopped)
        with pytest.raises(KeyboardInterrupt):
            predict_file(Predictor(folder), source, out, skip_bad=True)
    assert predict_file(Predictor(folder), source, out, skip_bad=True)["before"] == 48


def test_bad_line_stops_and_a_fixed_file_resumes(folder, source, tmp_path, small):
    out = tmp_path / "out.jsonl"
    with pytest.raises(InputError, match=r"in\.jsonl: line 8 is not JSON .*--skip-bad"):
        predict_file(Predictor(folder), source, out)
    lines = source.read_text().splitlines()
    lines[7] = json.dumps({"text": "a good film"})
    source.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="line 71 is empty"):
        predict_file(Predictor(folder), source, out)
    assert (folders_of(out)[0] / ANSWERS).read_bytes().count(b"\n") == 64  # whole batches before the bad line
    lines[70] = json.dumps({"text": "a dull film"})
    source.write_text("\n".join(lines) + "\n")
    stream.predict_file(Predictor(folder), source, out)
    assert out.read_bytes().count(b"\n") == 150


def test_other_input_model_or_engine_is_rejected(folder, source, tmp_path, small):
    out = tmp_path / "out.jsonl"
    with pytest.raises(InputError, match="line 8"):
        stream.BATCH = 4  # put back by `small`
        predict_file(Predictor(folder), source, out)
    with pytest.raises(InputError, match="started with another engine"):
        predict_file(Predictor(folder, "torch"), source, out, skip_bad=True)
    other = saved(tiny.model("averaging", seed=3), tmp_path / "other")
    with pytest.raises(InputError, match="started with another model"):
        predict_file(Predictor(other), source, out, skip_bad=True)
    source.write_text(source.read_text().replace("text", "sentence"))
    with pytest.raises(InputError, match="differs from the inputs of the first 4 lines in"):
        predict_file(Predictor(folder), source, out, skip_bad=True)
    assert predict_file(Predictor(folder), source, out, skip_bad=True, force=True)["before"] == 0


def test_batch_ends_at_the_byte_limit(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "BATCH_BYTES", 1000)
    (tmp_path / "in.txt").write_text("a film was good\n" * 500)
    lines = stream.InputLines(tmp_path / "in.txt")
    predictor = Predictor(folder)
    sizes = [
        len(batch.rows)
        for batch in stream.batches(predictor, lines, stream.read_inputs(lines, predictor.answer_type), False)
    ]
    assert sum(sizes) == 500 and set(sizes[:-1]) == {63}


def test_empty_file_is_rejected(folder, tmp_path):
    (tmp_path / "in.txt").write_text("")
    with pytest.raises(InputError, match="has no inputs"):
        predict_file(Predictor(folder), tmp_path / "in.txt", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_lone_surrogate_in_an_id_is_escaped():
    assert json.loads(stream.json_lines([{"id": "\ud83d", "text": "日本"}])) == {"id": "\ud83d", "text": "日本"}


@pytest.mark.parametrize("kind", ["label", "labels", "number", "choice", "tags", "span"])
def test_batch_of_bad_lines_only(kind, tmp_path, small):
    from engines.kinds import model_of

    predictor = Predictor(saved(model_of(kind), tmp_path / "model"))
    (tmp_path / "in.txt").write_text("\n" * 20)
    done = predict_file(predictor, tmp_path / "in.txt", tmp_path / "out.jsonl", skip_bad=True)
    assert (done["inputs"], done["bad"]) == (20, 20)
    assert all("is empty" in line or "must be a" in line for line in (tmp_path / "out.jsonl").read_text().splitlines())


def test_a_text_without_tokens_is_a_bad_line(tmp_path):
    """It is named by its line in the file, and passed over like other bad lines."""
    folder = tiny.deployed(tiny.model("bert"), tmp_path / "model")
    content = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**content, "post_processor": None}))
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("a film\n\u200b\nthe end\n\x01\n")
    predictor = Predictor(folder, "onnx", threads=1)
    with pytest.raises(InputError, match=r"in\.txt: line 2 has a text of which the tokenizer makes no tokens; fix it"):
        predict_file(predictor, source, out)
    assert predict_file(predictor, source, out, skip_bad=True, force=True)["bad"] == 2
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [("error" in one, one.get("line")) for one in found] == [(False, None), (True, 2), (False, None), (True, 4)]
