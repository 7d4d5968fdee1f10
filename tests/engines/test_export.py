"""Exported graphs: every family and head, pruned and quantized, matches torch, from one weights file."""

import itertools
import os
import random
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import tiny
from niwaki.answers.label import Label
from niwaki.core.errors import InputError
from niwaki.core.tensor_file import read_header
from niwaki.engines.export import GRAPH, write_graph
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import PROGRAM, WEIGHTS
from niwaki.engines.native.translate_inputs import INPUTS
from niwaki.engines.native.translate_mixers import MIXERS
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.model import Model
from niwaki.models.skeleton import HEADS
from niwaki.models.ties import unique_tensors
from niwaki.tokenization.trimming import trimmed, used_tokens
from selection import rest_slow

TEXTS = [text for text, _ in tiny.sentences(40, seed=5)]
PAIRS = list(zip(TEXTS[:20], TEXTS[20:], strict=True))
SHAPES = ("whole", "cut", "int8")
SEQUENCE_CLASSIFICATION, *PER_TOKEN = HEADS
CASES = [(family, shape, SEQUENCE_CLASSIFICATION) for family in tiny.SIZED for shape in SHAPES]
CASES += [(family, "cut", SEQUENCE_CLASSIFICATION) for family in tiny.FAMILIES if family not in tiny.SIZED]
CASES += [(family, shape, head) for family in tiny.SIZED for shape in ("cut", "int8") for head in PER_TOKEN]
CASES += [("averaging", shape, SEQUENCE_CLASSIFICATION) for shape in SHAPES]
CASES += [(family, shape, head) for family in ("bilstm", "cnn") for shape in ("cut", "int8") for head in HEADS]
# fast: every family cut in floats, which are compared exactly; every shape and head on one family of each kind
FAST = {case for case in CASES if case[1:] == ("cut", SEQUENCE_CLASSIFICATION)}
FAST |= {case for case in CASES if case[0] in ("bert", "averaging", "bilstm")}


def cut(family: str, shape: str, head: str = SEQUENCE_CLASSIFICATION) -> Model:
    model, draw = tiny.model(family, head=head), random.Random(family)
    if shape != "whole" and model.anatomy.layers:
        model.apply_edit(
            Heads(keep=[sorted(draw.sample(range(4), 1 + number)) for number in range(len(model.anatomy.layers))])
        )
        if family in tiny.SIZED:
            model.apply_edit(HiddenSize(keep=sorted(draw.sample(range(32), 28))))
    if shape != "whole":
        blocks = [block.ffn_size for block in model.anatomy.blocks]
        model.apply_edit(
            Ffn(keep=[sorted(draw.sample(range(size), size * 5 // 8 + number)) for number, size in enumerate(blocks)])
        )
    if shape == "int8":
        model.apply_edit(Int8())
    return model


def predictors_of(model: Model, folder: Path) -> dict[str, Predictor]:
    tiny.deployed(model, folder)
    runs_natively = bool(model.anatomy.layers) and model.anatomy.inputs.native in INPUTS
    # checkpoints of some families store several matrices as one, or under other names
    runs_natively = runs_natively and {*unique_tensors(model.network)} <= {*read_header(folder / WEIGHTS).tensors}
    runs_natively = runs_natively and all(layer.mixer.native in MIXERS for layer in model.anatomy.layers)
    assert (folder / PROGRAM).exists() == runs_natively
    engines = ["onnx", "torch", *(["native"] if runs_natively and best() else [])]
    if "NIWAKI_KERNELS" not in os.environ:  # `make sanitize`, with which OpenVINO cannot be loaded
        engines.append("openvino")
    return {engine: Predictor(folder, engine, threads=2) for engine in engines}


def logits(predictor: Predictor, texts: list) -> np.ndarray:
    """Through the encoding for whole texts, whatever the head: here only the graph is on trial."""
    return predictor.logits(Label().encode(texts, predictor.encoder.tokenizer, 60))


@pytest.fixture(scope="module", params=rest_slow(CASES, FAST), ids=" ".join)
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    return folder, request.param[1], predictors_of(cut(*request.param), folder)


# Root mean square of the differences in int8, over that of the logits. ONNX Runtime rounds activations with one scale for the whole batch, the
# others with one for each token: where one token has large values, as behind gated blocks, ONNX Runtime rounds all others two to three
# times as coarsely. The largest difference grows with the number of tokens, so it is no measure.
ROUNDED = {"onnx": 0.1, "openvino": 0.05, "native": 0.05, "torch": 0.0}


def relative_error(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - wanted) ** 2) / np.mean(wanted**2)))


def assert_equal(found: np.ndarray, wanted: np.ndarray, shape: str, engine: str) -> None:
    assert found.shape == wanted.shape and wanted.std() > 0.05
    if shape == "int8":  # activations are rounded too
        assert relative_error(found, wanted) <= ROUNDED[engine]
        assert np.corrcoef(found.ravel(), wanted.ravel())[0, 1] > 0.99
    else:
        np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("texts", [TEXTS, PAIRS], ids=["single", "pairs"])
def test_engines_match_torch(exported, texts):
    _, shape, predictors = exported
    for engine in predictors:
        assert_equal(logits(predictors[engine], texts), logits(predictors["torch"], texts), shape, engine)


EDITS = {
    "layers": Layers(keep=[0, 2]),
    "heads": Heads(keep=[[0, 3], [1], [0, 1, 2]]),
    "ffn": Ffn(keep=[8, 63, 1]),
    "width": HiddenSize(keep=list(range(3, 30))),
    "vocabulary": Vocabulary(keep=used_tokens(tiny.tokenizer().backend_tokenizer, TEXTS, 1)),
    "int8": Int8(),
}


PRODUCT = list(itertools.product(HEADS, EDITS))
COVERING = [
    (head, list(EDITS)[number % len(EDITS)]) for number, head in enumerate(HEADS)
]  # fast: every head, every edit


@pytest.mark.parametrize("case", rest_slow(PRODUCT, COVERING), ids="-".join)
def test_every_edit_under_every_head_is_exported(tmp_path, case):
    head, name = case
    model = tiny.model("bert", head=head)
    if name == "vocabulary":
        model.tokenizer = trimmed(model.tokenizer, EDITS[name].keep)
    model.apply_edit(EDITS[name])
    predictors = predictors_of(model, tmp_path)
    for engine in predictors:
        assert_equal(logits(predictors[engine], PAIRS), logits(predictors["torch"], PAIRS), name, engine)


def test_graph_contains_no_weights(exported):
    folder, _, _ = exported
    assert (folder / GRAPH).stat().st_size < 90_000  # nodes only, whatever the weights
    graph = onnx.load(str(folder / GRAPH), load_external_data=False).graph
    outside = [entry for entry in graph.initializer if entry.data_location == 1]
    start, tensors = read_header(folder / "model.safetensors")
    pointed = {next(int(pair.value) for pair in entry.external_data if pair.key == "offset") for entry in outside}
    big = {start + entry.first for name, entry in tensors.items() if "pooler" not in name and len(entry.shape) > 1}
    assert all(
        pair.value == "model.safetensors" for entry in outside for pair in entry.external_data if pair.key == "location"
    )
    assert len(big - pointed) <= 1  # token types of a family that does not use them
    inside = sum(len(entry.raw_data) for entry in graph.initializer if entry.data_location != 1)
    assert inside < 5000


def test_logits_do_not_depend_on_the_batch_or_order(exported):
    _, shape, predictors = exported
    for engine, predictor in predictors.items():
        together = by_text(predictor, TEXTS)
        order = np.random.default_rng(0).permutation(len(TEXTS))
        shuffled = by_text(predictor, [TEXTS[place] for place in order])
        alone = [part for text in TEXTS[:8] for part in by_text(predictor, [text])]
        for found, wanted in ((shuffled, [together[place] for place in order]), (alone, together[:8])):
            found, wanted = np.vstack(found), np.vstack(wanted)
            if shape == "int8" and engine == "onnx":
                assert relative_error(found, wanted) <= ROUNDED[engine]
            else:
                np.testing.assert_allclose(found, wanted, atol={"native": 0.0}.get(engine, 1e-5))


def by_text(predictor: Predictor, texts: list[str]) -> list[np.ndarray]:
    """Logits of each text: one row, or one for each token."""
    rows = Label().encode(texts, predictor.encoder.tokenizer, 60)
    found = predictor.logits(rows)
    return np.split(found, rows.ids.starts[1:-1] if predictor.answer_type.per_token else range(1, len(texts)))


def test_graph_takes_any_batch_and_length(exported):
    _, _, predictors = exported
    runtime, per_token = predictors["onnx"].runtime, predictors["onnx"].answer_type.per_token
    for rows, tokens in ((1, 1), (1, 7), (3, 40), (9, 2)):
        ids = np.full((rows, tokens), 9)
        found = runtime.logits(
            {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        )
        assert found.shape == ((rows, tokens, 2) if per_token else (rows, 2))


def test_onnxruntime_runs_the_graph_with_plain_arrays(exported):
    """The names are those of transformers' own exports; nothing of niwaki is needed."""
    folder, _, predictors = exported
    session = onnxruntime.InferenceSession(str(folder / GRAPH), providers=["CPUExecutionProvider"])
    names = {entry.name for entry in session.get_inputs()}
    expected = {"input_ids", "attention_mask"}
    assert names == (
        expected | {"token_type_ids"}
        if predictors["torch"].runtime.anatomy.family.inputs.uses_token_types
        else expected
    )
    encoded = Label().encode(["the film was good", "a plot"], predictors["onnx"].encoder.tokenizer, 60)
    arrays = encoded.padded(np.arange(2), 0)
    (logits,) = session.run(["logits"], {name: arrays[name] for name in names})
    np.testing.assert_array_equal(logits, predictors["onnx"].runtime.logits(arrays))


def test_an_int8_graph_multiplies_integers(tmp_path):
    model = cut("bert", "int8")
    model.save(tmp_path)
    write_graph(model, tmp_path)
    kinds = [node.op_type for node in onnx.load(str(tmp_path / GRAPH), load_external_data=False).graph.node]
    assert kinds.count("MatMulInteger") == 3 * 6


def test_tracing_does_not_change_the_model(tmp_path):
    model = cut("bert", "cut")
    before = tiny.logits(model, tiny.batch(model))
    model.save(tmp_path)
    write_graph(model, tmp_path)
    assert not any(module.training for module in model.network.modules())
    assert torch.equal(tiny.logits(model, tiny.batch(model)), before)


def test_damaged_graph_is_rejected(tmp_path):
    model = cut("bert", "whole")
    model.save(tmp_path)
    write_graph(model, tmp_path)
    (tmp_path / GRAPH).write_bytes((tmp_path / GRAPH).read_bytes()[:500])
    with pytest.raises(InputError, match=r"model\.onnx: cannot be read, it is damaged") as caught:
        Predictor(tmp_path)
    assert "\n" not in str(caught.value)
