"""Graphs: every family, cut and packed, gives in ONNX Runtime what torch gives, from one file of weights."""

import random

import numpy as np
import onnx
import pytest
import torch

import tiny
from niwaki.core.errors import Refused
from niwaki.engines.export import GRAPH, header, write_graph
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.width import Width
from niwaki.models.model import Model

TEXTS = [text for text, _ in tiny.sentences(40, seed=5)]
PAIRS = list(zip(TEXTS[:20], TEXTS[20:], strict=True))
SHAPES = ("whole", "cut", "int8")


def cut(family: str, shape: str) -> Model:
    model, draw = tiny.model(family), random.Random(family)
    if shape != "whole":
        model.operate(Heads(keep=[sorted(draw.sample(range(4), 1 + number)) for number in range(len(model.anatomy.layers))]))  # fmt: skip
        model.operate(Ffn(keep=[sorted(draw.sample(range(64), 40 + number)) for number in range(len(model.anatomy.layers))]))  # fmt: skip
        model.operate(Width(keep=sorted(draw.sample(range(32), 28))))
    if shape == "int8":
        model.operate(Int8())
    return model


@pytest.fixture(scope="module", params=[(family, shape) for family in tiny.FAMILIES for shape in SHAPES], ids=" ".join)
def exported(request, tmp_path_factory):
    family, shape = request.param
    folder = tmp_path_factory.mktemp("exported")
    model = cut(family, shape)
    model.save(folder)
    write_graph(model, folder)
    return folder, shape, {engine: Predictor(folder, engine, threads=2) for engine in ("onnx", "torch")}


@pytest.mark.parametrize("texts", [TEXTS, PAIRS], ids=["single", "pairs"])
def test_the_engine_gives_what_torch_gives(exported, texts):
    _, shape, predictors = exported
    found, wanted = (predictors[engine].logits(texts) for engine in ("onnx", "torch"))
    if shape == "int8":  # activations are rounded too
        assert np.abs(found - wanted).max() < 0.15 * np.abs(wanted).max()
        assert np.corrcoef(found.ravel(), wanted.ravel())[0, 1] > 0.99
    else:
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert wanted.std() > 0.05


def test_the_weights_lie_in_the_safetensors_file_only(exported):
    folder, _, _ = exported
    assert (folder / GRAPH).stat().st_size < 80_000  # nodes only, whatever the weights
    graph = onnx.load(str(folder / GRAPH), load_external_data=False).graph
    outside = [entry for entry in graph.initializer if entry.data_location == 1]
    start, tensors = header(folder / "model.safetensors")
    pointed = {next(int(pair.value) for pair in entry.external_data if pair.key == "offset") for entry in outside}
    big = {start + entry["data_offsets"][0] for name, entry in tensors.items() if name != "__metadata__" and "pooler" not in name and len(entry["shape"]) > 1}  # fmt: skip
    assert all(pair.value == "model.safetensors" for entry in outside for pair in entry.external_data if pair.key == "location")  # fmt: skip
    assert len(big - pointed) <= 1  # token types of a family that does not use them
    inside = sum(len(entry.raw_data) for entry in graph.initializer if entry.data_location != 1)
    assert inside < 5000


def test_alone_in_a_batch_and_in_any_order(exported):
    _, shape, predictors = exported
    for engine in ("onnx", "torch"):
        together = predictors[engine].logits(TEXTS)
        order = np.random.default_rng(0).permutation(len(TEXTS))
        shuffled = predictors[engine].logits([TEXTS[place] for place in order])
        alone = np.concatenate([predictors[engine].logits([text]) for text in TEXTS[:8]])
        atol = 0.1 * np.abs(together).max() if shape == "int8" and engine == "onnx" else 1e-5
        np.testing.assert_allclose(shuffled, together[order], atol=atol)
        np.testing.assert_allclose(alone, together[:8], atol=atol)


def test_the_graph_takes_any_batch_and_length(exported):
    _, _, predictors = exported
    runtime = predictors["onnx"].runtime
    for rows, tokens in ((1, 1), (1, 7), (3, 40), (9, 2)):
        ids = np.full((rows, tokens), 9)
        assert runtime.logits(ids, np.ones_like(ids), np.zeros_like(ids)).shape == (rows, 2)


def test_an_int8_graph_multiplies_integers(tmp_path):
    model = cut("bert", "int8")
    model.save(tmp_path)
    write_graph(model, tmp_path)
    kinds = [node.op_type for node in onnx.load(str(tmp_path / GRAPH), load_external_data=False).graph.node]
    assert kinds.count("MatMulInteger") == 3 * 6


def test_tracing_changes_nothing_in_the_model(tmp_path):
    model = cut("bert", "cut")
    before = tiny.logits(model, tiny.batch(model))
    model.save(tmp_path)
    write_graph(model, tmp_path)
    assert torch.equal(tiny.logits(model, tiny.batch(model)), before)


def test_a_damaged_graph_is_refused(tmp_path):
    model = cut("bert", "whole")
    model.save(tmp_path)
    write_graph(model, tmp_path)
    (tmp_path / GRAPH).write_bytes((tmp_path / GRAPH).read_bytes()[:500])
    with pytest.raises(Refused, match=r"model\.onnx: cannot be loaded by ONNX Runtime") as caught:
        Predictor(tmp_path)
    assert "\n" not in str(caught.value)
