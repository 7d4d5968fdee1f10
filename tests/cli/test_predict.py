"""`predict` from files and into files, through the program: niwaki predict MODEL --in FILE --out FILE."""

import fcntl
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from subprocess import PIPE

import pytest

import tiny
from engines.kinds import model_of, saved
from niwaki.engines.partial_folder import ANSWERS, STATE, folders_of


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    return saved(tiny.model("averaging", seed=2), tmp_path_factory.mktemp("served") / "model")


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(f"{json.dumps({'id': k, 'text': text})}\n" for k, (text, _) in enumerate(tiny.sentences(30)))
    )
    return path


def test_output_file_and_stdout_are_the_same(niwaki, served, rows, tmp_path):
    result = niwaki("predict", served, "--in", rows, "--out", tmp_path / "out.jsonl", "--json")
    assert (result.code, json.loads(result.out)["inputs"]) == (0, 30)
    assert result.err.count("\n") == 1 and "has no MANIFEST" in result.err  # a model folder from elsewhere
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [answer["id"] for answer in found] == list(range(30))
    assert json.loads(niwaki("predict", served, "--in", rows, "--json").out) == found
    lines = niwaki("predict", served, "--in", rows).out.splitlines()
    assert [line.split("\t")[::2] for line in lines] == [[answer["label"], str(answer["id"])] for answer in found]


def test_stdin_is_written_to_a_file(niwaki, served, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("a good film\na dull film\n"))
    result = niwaki("predict", served, "--out", tmp_path / "out.jsonl")
    assert result.out == f"{tmp_path / 'out.jsonl'}: 2 answers\n"
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[1])["text"] == "a dull film"


def test_existing_output_is_not_overwritten(niwaki, rejected, served, rows, tmp_path):
    (tmp_path / "out.jsonl").write_text("precious")
    line = rejected("predict", served, "--in", rows, "--out", tmp_path / "out.jsonl")
    assert "exists already; use --force" in line and (tmp_path / "out.jsonl").read_text() == "precious"
    assert "is the input; give" in rejected("predict", served, "--in", rows, "--out", rows, "--force")
    assert niwaki("predict", served, "--in", rows, "--out", tmp_path / "out.jsonl", "--force").code == 0


def test_output_to_a_pipe_is_rejected(rejected, served, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is no plain file; give a pipe as stdin" in rejected("predict", served, "--in", tmp_path / "pipe")
    assert "is not there" in rejected("predict", served, "--in", tmp_path / "none")


def test_bad_lines_stop_the_command_or_are_skipped_on_request(niwaki, rejected, served, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('id,review\n1,a good film\n2,\n3,"a\nb",c\n4,a dull film\n')
    line = rejected("predict", served, "--in", path, "--out", tmp_path / "out.jsonl")
    assert f"{path}: line 3 is empty" in line and line.endswith("or skip bad lines with --skip-bad")
    result = niwaki("predict", served, "--in", path, "--out", tmp_path / "out.jsonl", "--skip-bad")
    assert result.out.endswith(": 4 answers, 2 bad lines\n")
    found = [json.loads(text) for text in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [answer.get("id") for answer in found] == ["1", "2", None, "4"]
    assert ["error" in answer for answer in found] == [False, True, True, False] and found[2]["line"] == 4
    printed = niwaki("predict", served, "--in", path, "--skip-bad").out.splitlines()
    assert printed[1].startswith("error\tis empty") and printed[3].endswith("\t4")


def test_columns_are_chosen_by_option(niwaki, rejected, served, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"one": "a good film", "other": "the end"}\n')
    assert "--column" in rejected("predict", served, "--in", path)
    assert (
        json.loads(niwaki("predict", served, "--in", path, "--column", "one", "--json").out)[0]["text"] == "a good film"
    )
    pair = niwaki("predict", served, "--in", path, "--column", "one", "--column", "other")
    assert pair.out.endswith("\ta good film\tthe end\n")
    assert "has no 'three'" in rejected("predict", served, "--in", path, "--column", "three")


def test_column_option_is_rejected_for_inputs_without_columns(rejected, served, tmp_path, monkeypatch):
    """Lines would be answered whole, JSON and all."""
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"text": "a good film"}\n'))
    assert "stdin: has one text per line and no column 'text'" in rejected("predict", served, "--column", "text")
    (tmp_path / "rows.txt").write_text("a good film\n")
    for more in ([], ["--out", tmp_path / "out.jsonl"]):
        line = rejected("predict", served, "--in", tmp_path / "rows.txt", "--column", "text", *more)
        assert "rows.txt: has one text per line" in line and not folders_of(tmp_path / "out.jsonl")


@pytest.mark.parametrize("words", [["--column", "text"], ["--skip-bad"], ["--force"]])
def test_options_for_files_are_rejected_with_texts(rejected, served, words):
    assert words[0] in rejected("predict", served, "a good film", *words, code=2)


def test_texts_and_an_input_file_together_are_rejected(rejected, served, rows, tmp_path):
    assert "not both" in rejected("predict", served, "a film", "--in", rows, code=2)
    assert "not both" in rejected("predict", served, "a film", "--out", tmp_path / "out.jsonl", code=2)


def test_lone_surrogate_is_rejected(rejected, served):
    assert "is not UTF-8; rename the file, or write the text in UTF-8" in rejected("predict", served, "a \ud83d film")


def test_lone_surrogate_in_an_id_is_escaped(niwaki, served, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "\\ud800x", "text": "a good film"}\n')
    assert niwaki("predict", served, "--in", tmp_path / "rows.jsonl").out.endswith("\t\\ud800x\n")
    (answer,) = json.loads(niwaki("predict", served, "--in", tmp_path / "rows.jsonl", "--json").out)
    assert answer["id"] == "\ud800x"


def test_generated_text_is_printed_next_to_the_input(niwaki, tmp_path):
    folder = saved(model_of("text"), tmp_path / "writer")
    (tmp_path / "in.txt").write_text("a good film\n")
    words, lines = ["a good film"], ["--in", tmp_path / "in.txt"]
    found = [json.loads(niwaki("predict", folder, "--json", *given).out)[0] for given in (words, lines)]
    assert niwaki("predict", folder, *lines, "--out", tmp_path / "out.jsonl").code == 0
    for record in (*found, json.loads((tmp_path / "out.jsonl").read_text())):
        assert list(record) == ["text", "generated", "probability"] and record["text"] == "a good film"


@pytest.fixture
def waiting(served):
    """`niwaki predict` that has read two lines and waits for more on a pipe that stays open."""
    begun = []

    def start(*words):
        command = [sys.executable, "-m", "niwaki", "predict", served, "--engine", "onnx", *words]
        child = subprocess.Popen(map(str, command), stdin=PIPE, stdout=PIPE, stderr=PIPE)
        begun.append(child)
        child.stdin.write(b"a good film\na dull film\n")
        child.stdin.flush()
        wait_until(lambda: left_in(child.stdin) == 0)
        return child

    yield start
    for child in begun:
        child.kill()
        child.communicate()


def left_in(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


def wait_until(true, seconds=300):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_waiting_for_stdin(waiting, number):
    child = waiting()
    child.send_signal(number)
    assert child.wait(10) == 130
    assert [line.split(b"\t")[2] for line in child.stdout.read().splitlines()] == [b"a good film", b"a dull film"]
    assert b"niwaki: interrupted; what was printed is all there is" in child.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_command_resumes_from_the_partial_output(niwaki, served, waiting, tmp_path, monkeypatch, number):
    out = tmp_path / "out.jsonl"
    child = waiting("--out", out)
    child.send_signal(number)
    assert child.wait(10) == 130 and not out.exists()
    (left,) = folders_of(out)
    assert len((left / ANSWERS).read_bytes().splitlines()) == 2
    assert json.loads((left / STATE).read_text())["inputs"] == 0  # the batch could have become longer
    monkeypatch.setattr(sys, "stdin", io.StringIO("a good film\na dull film\nthe end\n"))
    assert niwaki("predict", served, "--engine", "onnx", "--out", out).code == 0
    assert len(out.read_bytes().splitlines()) == 3 and not folders_of(out)


def test_interrupted_command_with_force_says_how_to_resume(waiting, tmp_path):
    (tmp_path / "out.jsonl").write_text("old")
    child = waiting("--out", tmp_path / "out.jsonl", "--force")
    child.send_signal(signal.SIGINT)
    assert child.wait(10) == 130 and (tmp_path / "out.jsonl").read_text() == "old"
    assert b"the same command without --force resumes there" in child.stderr.read()


@pytest.mark.parametrize(
    "pattern, text, words",
    [
        ("(a|a)*", "a good film", "takes more than a second on short texts"),
        (r"(?:xy)*(?:xy)*[^a-z\n]q", "xy" * 2000 + " y q", "takes more than 1 s for a text of 4004 characters"),
        (r"(?:xy|xy)*[^a-z\n]q", "xy" * 500 + " y q", "takes more than 1 s for a text of 1004 characters"),
    ],
)
def test_slow_tokenizer_pattern_is_reported_in_one_line(served, tmp_path, pattern, text, words):
    """The first when the model is loaded, the second at the text that it is slow on. In a process of its own, which must end."""
    model = shutil.copytree(served, tmp_path / "model")
    path = model / "tokenizer.json"
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    path.write_text(json.dumps({**json.loads(path.read_text()), "pre_tokenizer": split}))
    code = "from niwaki.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "predict", str(model), text], capture_output=True, text=True, timeout=300
    )
    lines = [line for line in done.stderr.splitlines() if "has no MANIFEST" not in line]
    assert done.returncode == 3 and len(lines) == 1 and words in lines[0], done.stderr


@pytest.mark.parametrize("texts", [[""], ["   "], ["a film", "\n\t"]])
def test_empty_texts_are_rejected_by_number(rejected, model, texts):
    assert f"texts.{len(texts) - 1}: is empty" in rejected("predict", model, *texts)


def test_missing_texts_are_rejected(rejected, model, tmp_path, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert "no text was given" in rejected("predict", model)
    assert "is not there" in rejected("predict", model, "--in", tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    assert "UTF-8" in rejected("predict", model, "--in", tmp_path / "latin")
    assert "latin" in rejected("predict", model, "--in", tmp_path / "latin")


def test_unusual_texts_are_answered(niwaki, model):
    texts = ["x" * 50_000, "good " * 5000, "\u202egnp.exe", "日本語", "\x00\x01", "a\nb"]
    assert len(json.loads(niwaki("predict", model, *texts, "--json").out)) == len(texts)


def test_unfinished_run_is_rejected(rejected, finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    (tmp_path / "run" / "report.json").unlink()
    assert "niwaki run" in rejected("predict", tmp_path / "run", "a film")


@pytest.mark.parametrize("engine", ["auto", "onnx", "torch"])
def test_texts_come_from_arguments_a_file_or_stdin(niwaki, model, tmp_path, monkeypatch, engine):
    texts = ["a good film.", "a dull film, and cold."]
    answers = json.loads(niwaki("predict", model, *texts, "--engine", engine, "--json").out)
    assert [answer["text"] for answer in answers] == texts
    assert all(answer["label"] in ("good", "bad") and 0.5 <= answer["probability"] <= 1 for answer in answers)
    (tmp_path / "texts").write_text("\n".join(texts))
    lines = niwaki("predict", model, "--in", tmp_path / "texts", "--engine", engine).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [answer["label"] for answer in answers]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(texts)))
    assert niwaki("predict", model, "--engine", engine).out.splitlines() == lines


def test_recommended_stage_of_a_run_is_used(niwaki, finished):
    assert niwaki("predict", finished, "a good film.").code == 0
