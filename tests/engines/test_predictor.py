"""The predictor: texts in, answers out, in order; without torch if the engine needs none."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

import tiny
from engines.kinds import model_of, saved
from niwaki.answers._answer_type import softmax
from niwaki.core.errors import InputError, UsageError
from niwaki.engines import RUNTIMES
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtime import Runtime
from niwaki.engines.scheduler import NotFinite
from niwaki.models.config_rules import readable_tokens


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predictor")
    model = tiny.model("bert", labels=["no", "maybe", "yes"])
    model.save(folder)
    write_graph(model, folder)
    return folder


def logits(predictor, texts):
    return predictor.logits(predictor.tokenize(texts))


def test_predictions_have_label_and_probabilities(folder):
    predictor = Predictor(folder)
    assert predictor.engine == "onnx" and predictor.labels == ["no", "maybe", "yes"]
    texts = [text for text, _ in tiny.sentences(50)]
    answers = predictor.predict(texts)
    best = logits(predictor, texts).argmax(axis=1)
    for answer, place in zip(answers, best, strict=True):
        assert answer.label == predictor.labels[place]
        assert sum(answer.probabilities.values()) == pytest.approx(1)
        assert answer.probability == max(answer.probabilities.values()) == answer.probabilities[answer.label]
    assert str(answers[0]).endswith("%)") and "engine='onnx'" in repr(predictor)


def test_single_text_pair_and_empty_list(folder):
    predictor = Predictor(folder)
    assert len(predictor.predict("the film")) == len(predictor.predict(("the film", "the plot"))) == 1
    assert predictor.predict([]) == [] and logits(predictor, []).shape == (0, 3)


@pytest.mark.parametrize(
    "texts, kind, message",
    [
        (["a", ""], InputError, "texts.1: is empty"),
        ([" \n"], InputError, "texts.0: is empty"),
        ([("a", " ")], InputError, "texts.0: is empty"),
        (["a", 3], UsageError, "texts.1: must be a string, or a tuple of two (given: int)"),
        ([["a", "b", "c"]], UsageError, "given: list"),
        ([("a", "b", "c")], UsageError, "texts.0"),
        ([None], UsageError, "NoneType"),
        (True, UsageError, "predict: give a text or a list of them (given: bool)"),
        ({"text": "a film"}, UsageError, "predict: give a text or a list of them (given: dict)"),
    ],
)
def test_invalid_texts_are_rejected(folder, texts, kind, message):
    with pytest.raises(kind) as caught:
        Predictor(folder).predict(texts)
    assert message in str(caught.value)


def test_negative_threads_are_rejected(folder):
    with pytest.raises(UsageError, match=r"threads must be 1 or more.*\(given: -1\)"):
        Predictor(folder, threads=-1)


def test_long_texts_are_truncated_to_the_maximum_length(folder):
    predictor = Predictor(folder)
    assert np.isfinite(logits(predictor, ["film " * 5000])).all()
    assert readable_tokens({"max_position_embeddings": 66, "niwaki_max_tokens": 12}) == 12
    short = Predictor(folder, max_tokens=8)
    np.testing.assert_array_equal(logits(short, ["film " * 50]), logits(short, ["film " * 6]))


def test_unusual_texts_have_finite_logits(folder):
    for text in ("\x00", "电影", "🙂" * 40, "a" * 10_000, "\u202e", "[CLS] [PAD] [SEP]"):
        assert np.isfinite(logits(Predictor(folder, threads=1), [text])).all()


def test_a_deployment_needs_neither_torch_nor_transformers(folder):
    code = (
        "import sys; from pathlib import Path; from niwaki.engines.predictor import Predictor;"
        f"print(Predictor(Path({str(folder)!r})).predict('a fine film')[0].label);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'pyarrow', 'sklearn', 'scipy')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("no", "maybe", "yes")


def test_unusable_engine_is_rejected_with_the_reason(folder, bert_folder):
    assert Predictor(bert_folder).engine == "torch"  # no graph there
    with pytest.raises(InputError, match=r"has no model\.onnx"):
        Predictor(bert_folder, "onnx")
    with pytest.raises(InputError, match="engine 'onyx' is not known, did you mean 'onnx'"):
        Predictor(folder, "onyx")
    assert set(RUNTIMES.names()) >= {"onnx", "torch"}


def damaged(folder, tmp_path, name, text):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_text(text) if text is not None else (tmp_path / name).unlink()
    return tmp_path


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("config.json", None, "it has no config.json"),
        ("tokenizer.json", None, "it has no tokenizer.json"),
        ("config.json", "{", "cannot be read as JSON"),
        ("config.json", "[]", "must be a table"),
        ("config.json", "{}", "names no labels"),
        ("config.json", '{"id2label": {"a": "x"}}', "id2label"),
        ("tokenizer.json", "{", "tokenizer.json: cannot be read"),
        ("model.safetensors", "", "the header is not whole"),
        ("model.safetensors", None, "it has no model.safetensors"),
    ],
)
def test_damaged_folder_is_rejected(folder, tmp_path, name, text, message):
    with pytest.raises(InputError) as caught:
        Predictor(damaged(folder, tmp_path, name, text))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_labels_are_in_order_of_their_ids(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text())
    names = {str(number): f"label {number}" for number in reversed(range(12))}
    damaged(folder, tmp_path, "config.json", json.dumps({**config, "id2label": names}))
    assert Predictor(tmp_path).labels == [f"label {number}" for number in range(12)]


def test_softmax_by_hand():
    np.testing.assert_allclose(softmax(np.array([[0.0, np.log(3)], [1e4, -1e4]])), [[0.25, 0.75], [1.0, 0.0]])


@pytest.mark.parametrize("engine", ["onnx", "torch"])
def test_several_threads_may_predict_at_once(folder, engine):
    from concurrent.futures import ThreadPoolExecutor

    predictor = Predictor(folder, engine, threads=2)
    texts = [text for text, _ in tiny.sentences(60)]
    wanted = logits(predictor, texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: logits(predictor, texts), range(8)):
            np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("engine", ["native", "onnx", "openvino", "torch"])
def test_nan_logits_are_rejected_by_name(tmp_path, engine):
    """Its first label would be the answer otherwise, or, where kernels lose what is NaN, any."""
    model = tiny.model("bert", niwaki_exits=[1])
    with torch.no_grad():
        model.anatomy.layers[0].part("ffn_out").weight[0, 0] = float("nan")
    folder = tiny.deployed(model, tmp_path)
    if fault := RUNTIMES.load(engine, Runtime).unsupported_reason(folder):
        pytest.skip(fault)
    with pytest.raises(InputError, match=rf"^{folder}\b.*not finite") as caught:
        Predictor(folder, engine).predict("the film")
    assert "\n" not in str(caught.value)
    if engine == "onnx":
        predictor = Predictor(folder, engine)
        with pytest.raises(NotFinite):
            predictor.logits_with_exits(
                predictor.tokenize(["the film"]), lambda number, some: np.full(len(some), False)
            )


@pytest.mark.parametrize("engine", ["onnx", "torch"])
@pytest.mark.parametrize("part", ["embeddings", "decoder"])
def test_nan_of_a_generating_model_is_rejected(tmp_path, engine, part):
    """Nothing would be written otherwise, as if that were the answer."""
    model = model_of("text")
    with torch.no_grad():
        next(value for name, value in model.network.named_parameters() if part in name).fill_(float("nan"))
    with pytest.raises(NotFinite):
        Predictor(saved(model, tmp_path / "model"), engine).predict("the film")


FORKED = """
import os, signal, sys
from pathlib import Path
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
predictor = Predictor(Path(sys.argv[1]), sys.argv[2], threads=2)
texts = ["a film " * (1 + number % 20) for number in range(400)]
wanted = predictor.values(texts)
child = os.fork()
if child == 0:
    signal.alarm(20)
    try:
        os._exit(0 if predictor.values(texts) == wanted else 1)
    except InputError as error:
        print(error, flush=True)
        os._exit(3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("engine", ["native", "onnx", "openvino"])
def test_forked_process_predicts_or_is_rejected(tmp_path, engine):
    """As gunicorn --preload and multiprocessing ask it: threads of the parent's are none of the child's."""
    folder = tiny.deployed(tiny.model("bert"), tmp_path)
    if fault := RUNTIMES.load(engine, Runtime).unsupported_reason(folder):
        pytest.skip(fault)
    done = subprocess.run([sys.executable, "-c", FORKED, str(folder), engine], capture_output=True, text=True)
    if engine == "openvino":
        assert done.returncode == 3 and "load it after the fork" in done.stdout and done.stdout.count("\n") == 1
    else:
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)


def test_question_answering_model_needs_no_label_names(tmp_path):
    """As transformers writes it: names that are its default are left out of the file."""
    from transformers import AutoModelForQuestionAnswering, BertConfig

    tokenizer = tiny.tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    AutoModelForQuestionAnswering.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert "id2label" not in json.loads((tmp_path / "config.json").read_text())
    loaded = Predictor(tmp_path)
    (found,) = loaded.predict([("is it", "a lovely film")])
    assert loaded.labels == ["start", "end"] and found.answer and found.answer in "a lovely film"


def test_embeddings_equal_predictions_and_need_a_model_without_a_task_head(tmp_path):
    bare = tiny.deployed(tiny.model(head="FeatureExtraction"), tmp_path / "bare")
    model = Predictor(bare)
    vectors = model.encode(["the film", "a plot"])
    assert np.array_equal(vectors[0], np.float32(model.predict("the film")[0].embedding))
    raw = model.encode(["the film", "a plot"], normalize=False)
    assert np.allclose(vectors, raw / np.linalg.norm(raw, axis=1, keepdims=True), atol=1e-6)
    assert not np.allclose(vectors, raw)
    assert model.encode("the film").shape == (1, 32)
    with pytest.raises(InputError, match=r"^texts\.1: is empty"):
        model.encode(["the film", " "])
    whole = tiny.deployed(tiny.model(), tmp_path / "whole")
    with pytest.raises(UsageError, match="has a task head and gives no sentence embeddings; load the encoder"):
        Predictor(whole).encode(["the film"])
