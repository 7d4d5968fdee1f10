"""The worker's computation, and its loop at one end of a pipe."""

import multiprocessing
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import niwaki
import tiny
from engines.trunks import folder_with_heads
from niwaki.core.errors import InputError
from niwaki.serve import worker as module
from niwaki.serve.sources import sources_of
from niwaki.serve.worker import ModelSource, answer_batch, describe, open_models, run_worker, serve_batches


@pytest.fixture(scope="module")
def model(tiny_folder):
    return niwaki.load(tiny_folder, engine="native")


def test_answers_equal_those_of_predict(model):
    texts = ["a lovely film", "the bad end", ["a good plot", "a dull plot"]]
    found = answer_batch(model, texts)
    expected = model.predict(["a lovely film", "the bad end", ("a good plot", "a dull plot")])
    assert found.answers == [one.record() for one in expected]
    assert found.tokens == [
        len(model.encoder.tokenizer.encode(*([text] if isinstance(text, str) else text)).ids) for text in texts
    ]
    assert found.joules > 0 and found.seconds > 0


@pytest.mark.parametrize("bad", ["", "  ", 7, None, [], ["a", "b", "c"], {"text": "a"}, "\ud800", ["a", 3]])
def test_an_invalid_input_fails_alone(model, bad):
    found = answer_batch(model, ["a lovely film", bad, "the bad end"])
    solo = answer_batch(model, ["a lovely film"])
    assert found.answers[0] == solo.answers[0] and isinstance(found.answers[2], dict)
    assert isinstance(found.answers[1], str) and "texts." not in found.answers[1] and "\n" not in found.answers[1]
    assert found.tokens[1] == 0


def test_texts_are_computed_one_by_one_if_their_batch_fails(model, monkeypatch):
    real = type(model).tokenize

    def fragile(self, inputs):
        if "poison" in inputs:
            raise RuntimeError("kernel")
        return real(self, inputs)

    monkeypatch.setattr(type(model), "tokenize", fragile)
    found = answer_batch(model, ["a lovely film", "poison", "the bad end"])
    assert [isinstance(answer, dict) for answer in found.answers] == [True, False, True]
    assert "kernel" not in found.answers[1], "details are for the log"


def test_an_empty_batch_is_answered(model):
    assert answer_batch(model, []).answers == [] == answer_batch(model, []).tokens


def test_a_model_is_described_with_its_speed(model):
    about = describe(model)
    assert about["kind"] == "label" and about["labels"] == model.labels and about["engine"] == "native"
    assert about["warm_up"]["tokens"] > 10 and about["warm_up"]["seconds"] > 0


def test_the_loop_answers_until_the_pipe_closes(model):
    ours, theirs = multiprocessing.Pipe()
    beat = SimpleNamespace(value=0.0)
    thread = threading.Thread(target=run_loop, args=(theirs, beat, model))
    thread.start()
    ours.send(("m", ["a lovely film"]))
    assert ours.poll(10) and ours.recv().answers == answer_batch(model, ["a lovely film"]).answers
    time.sleep(0.15)
    assert time.monotonic() - beat.value < 0.15, "an idle worker beats"
    ours.close()
    thread.join(5)
    assert not thread.is_alive()


def run_loop(pipe, beat, model):
    try:
        serve_batches(pipe, beat, {"m": model})
    except EOFError:
        return


def test_a_model_that_cannot_be_loaded_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(module.signal, "signal", lambda number, handler: None)
    ours, theirs = multiprocessing.Pipe()
    run_worker(theirs, SimpleNamespace(value=0.0), [ModelSource("a", str(tmp_path / "none"))], "auto", 1)
    assert isinstance(ours.recv(), InputError)


def test_every_model_reads_a_text_before_any_request(tiny_folder, monkeypatch):
    seen = []
    monkeypatch.setattr(module, "answer_batch", lambda model, inputs: seen.append(inputs))
    found = open_models([ModelSource("a", str(tiny_folder))], "native", 1)
    assert list(found) == ["a"] and len(seen) == len(module.WARM_UP)


def test_cascades_name_the_step_that_answered(monkeypatch):
    class Steps(module.Cascade):
        def __init__(self):
            self.answer_type = None

        def check(self, texts):
            return texts

        def tokenize(self, inputs):
            lengths = np.ones(len(inputs), dtype=int)
            return SimpleNamespace(input_index=np.arange(len(inputs)), lengths=lengths)

        def predict_with_steps(self, inputs, rows, bare=False):
            return [SimpleNamespace(record=lambda: {"label": "good"}) for _ in inputs], np.array([0, 1])

    assert [one["step"] for one, _ in module.predict(Steps(), ["a", "b"])] == [0, 1]


# ── heads on a shared trunk ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def trunk(tmp_path_factory):
    return folder_with_heads(tmp_path_factory.mktemp("heads"), plain={"labels": "topics", "number": "score"})


def test_heads_of_a_folder_share_encoder_calls(trunk):
    models = open_models(sources_of([f"mail={trunk}"]), "auto", 1, 1 << 20)
    assert list(models) == ["mail", "mail/score", "mail/topics", "mail/all"]
    assert describe(models["mail/all"])["kind"] == "heads"
    shared = models["mail/all"].trunk
    calls = shared.encoder_calls
    each = [answer_batch(models[name], ["a lovely film"]).answers[0] for name in ("mail", "mail/score", "mail/topics")]
    (together,) = answer_batch(models["mail/all"], ["a lovely film"]).answers
    assert shared.encoder_calls == calls + 1
    assert together == {"heads": dict(zip(("main", "score", "topics"), each, strict=True))}


def test_another_engine_or_no_torch_serves_each_head_alone(trunk, monkeypatch):
    sources = sources_of([f"mail={trunk}"])
    assert list(open_models(sources, "onnx", 1)) == ["mail", "mail/score", "mail/topics"]
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert "torch" not in {one.engine for one in open_models(sources, "auto", 1).values()}


def test_heads_with_different_inputs_are_not_served_together(tmp_path):
    folder = folder_with_heads(tmp_path, plain={"tags": "ner"})
    assert list(open_models(sources_of([f"mail={folder}"]), "auto", 1)) == ["mail", "mail/ner"]


def test_a_server_reads_no_files_for_its_clients(tmp_path):
    """The input of a model for images may be a path."""
    tiny.model("vit", niwaki_answer={"kind": "image_label"}).save(tmp_path)
    with pytest.raises(InputError, match="reads images, and the server takes texts only"):
        open_models([ModelSource("a", str(tmp_path))], "torch", 1)
