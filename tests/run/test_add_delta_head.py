"""Heads with deltas on a shared trunk: equal to the separate tuned models, as small as claimed, in torch and ONNX."""

import json

import numpy as np
import pytest
import torch

import niwaki
import tiny
from calibrated import CONTEXT
from engines.kinds import INPUTS, model_of, saved
from niwaki.core.errors import InputError
from niwaki.core.tensor_file import read_header
from niwaki.engines.predictor import Predictor
from niwaki.methods.adapt.adapters import Adapters
from niwaki.methods.adapt.bitfit import Bitfit
from niwaki.methods.adapt.ia3 import Ia3
from niwaki.methods.adapt.lora import Lora
from niwaki.methods.adapt.prefix_tuning import PrefixTuning
from niwaki.methods.adapt.prompt_tuning import PromptTuning
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.forward import forward
from niwaki.models.model import load_folder
from niwaki.models.trunk import is_of_delta, names_with_deltas, trunk_name, with_head
from niwaki.run.add_head import add_head
from niwaki.run.export import export

# method → numbers that it trains in two layers of width 32 with 64 neurons, without the head
METHODS = {
    "adapters": (Adapters(reduction=8), 2 * (2 * 4 * 32 + 4 + 32)),
    "bitfit": (Bitfit(), 32 + 2 * (8 * 32 + 32)),
    "ia3": (Ia3(merge=False), 2 * (32 + 32 + 64)),
    "lora": (Lora(rank=2, merge=False), 2 * 2 * 2 * 2 * 32),
    "prefix_tuning": (PrefixTuning(tokens=3), 2 * 2 * 3 * 32),
    "prompt_tuning": (PromptTuning(tokens=3), 3 * 32),
}
HEAD = 3 * 32 + 3


def trained(folder, method, lr=0.2):
    """The folder's model after some steps."""
    model = method.prepare(load_folder(folder), CONTEXT)
    optimizer = torch.optim.SGD([one for one in model.network.parameters() if one.requires_grad], lr=lr)
    for seed in range(3):
        forward(model.anatomy, tiny.batch(model, seed=seed)).logits.square().sum().backward()
        torch.nn.utils.clip_grad_norm_(model.network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return method.finish(model)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A model folder with a head for each method, and the folders of the separate models."""
    home = tmp_path_factory.mktemp("deltas")
    folder, sources = saved(model_of("label"), home / "trunk"), {}
    for name, (method, _) in METHODS.items():
        sources[name] = saved(trained(folder, method), home / name)
        add_head(folder, sources[name], name)
    return folder, sources


@pytest.mark.parametrize("engine", ["torch", "onnx"])
@pytest.mark.parametrize("name", METHODS)
def test_every_delta_answers_exactly_as_its_separate_model(shared, name, engine):
    folder, sources = shared
    ours, theirs = niwaki.load(folder, engine, head=name), Predictor(sources[name], engine)
    rows = ours.tokenize(INPUTS["label"])
    assert np.array_equal(ours.logits(rows), theirs.logits(rows))
    assert np.abs(ours.logits(rows) - Predictor(folder, engine).logits(rows)).max() > 1e-3


@pytest.mark.parametrize("name", METHODS)
def test_a_folder_holds_the_delta_the_last_matrix_and_no_other_number(shared, name):
    folder, sources = shared
    _, tensors = read_header(folder / "heads" / name / "head.safetensors")
    assert sum(int(np.prod(entry.shape)) for entry in tensors.values()) == METHODS[name][1] + HEAD
    size = (folder / "heads" / name / "head.safetensors").stat().st_size
    assert size <= 4 * (METHODS[name][1] + HEAD) + 6000  # the header names each tensor
    graph = (folder / "heads" / name / "model.onnx").stat().st_size
    assert graph <= (sources[name] / "model.onnx").stat().st_size + 3000  # the graph has no weights of the trunk


def test_a_pooler_that_was_trained_is_stored_and_one_that_changed_is_rejected(tmp_path):
    folder = saved(model_of("label"), tmp_path / "trunk")
    own = saved(trained(folder, Lora(rank=2, merge=False, pooler=True)), tmp_path / "own")
    add_head(folder, own, "own")
    rows = (ours := niwaki.load(folder, "torch", head="own")).tokenize(INPUTS["label"])
    assert np.array_equal(ours.logits(rows), Predictor(own, "torch").logits(rows))
    add_head(folder, saved(trained(folder, Ia3(merge=False)), tmp_path / "ia3"), "borrowed")
    model = load_folder(folder)
    model.network.bert.pooler.dense.bias.data += 1
    saved(model, folder)
    assert niwaki.load(folder, "torch", head="own").logits(rows).shape == (len(INPUTS["label"]), 3)
    with pytest.raises(InputError, match="was saved for another trunk"):
        niwaki.load(folder, "torch", head="borrowed")


@pytest.mark.parametrize("name", ["bitfit", "lora", "prompt_tuning"])
def test_deltas_share_a_packed_trunk(name, tmp_path):
    model = model_of("label")
    model.apply_edit(LowBit(base=16, group=16))
    folder = saved(model, tmp_path / "trunk")
    source = saved(trained(folder, METHODS[name][0]), tmp_path / "source")
    add_head(folder, source, "task")
    for engine in ("torch", "onnx"):
        ours, theirs = niwaki.load(folder, engine, head="task"), Predictor(source, engine)
        rows = ours.tokenize(INPUTS["label"])
        assert np.array_equal(ours.logits(rows), theirs.logits(rows))


def test_a_merged_delta_is_rejected_with_the_fix(tmp_path):
    folder = saved(model_of("label"), tmp_path / "trunk")
    with pytest.raises(InputError, match=r"4 of \d+ trunk tensors differ .* 'lora' and merge = false"):
        add_head(folder, saved(trained(folder, Lora(rank=2)), tmp_path / "merged"), "task")


def test_a_head_with_a_delta_exports_for_the_native_engine(shared, tmp_path):
    folder, _ = shared
    for name in ("lora", "ia3"):
        out = tmp_path / name
        export(folder / "heads" / name, "native", out, "float", None, 0.0)
        rows = (ours := Predictor(out, "native")).tokenize(INPUTS["label"])
        expected = niwaki.load(folder, "torch", head=name).logits(rows)
        np.testing.assert_allclose(ours.logits(rows), expected, atol=1e-4)
    for name in ("adapters", "prefix_tuning", "prompt_tuning"):
        with pytest.raises(InputError, match="native engine: "):
            export(folder / "heads" / name, "native", tmp_path / name, "float", None, 0.0)


def test_the_digest_of_the_trunk_is_stated(shared):
    folder, _ = shared
    stated = json.loads((folder / "heads" / "lora" / "trunk.json").read_text())
    assert set(stated) == {"version", "trunk", "pooler"}


def test_names_of_trunk_and_delta():
    assert trunk_name("a.query.base.base.weight") == "a.query.weight" and is_of_delta("a.query.delta.up.weight")
    trunk, tuned = ["b.q.weight", "b.q.bias"], ["b.q.base.weight", "b.q.base.bias", "b.q.delta.gain"]
    assert names_with_deltas(trunk, tuned) == {"b.q.weight": "b.q.base.weight", "b.q.bias": "b.q.base.bias"}
    assert names_with_deltas(tuned, tuned) == {}
    found = with_head({"b.q.weight": 1, "b.q.bias": 2, "c": 3}, {"c": 4, "b.q.base.bias": 5}, tuned, "b")
    assert found == {"b.q.base.weight": 1, "b.q.base.bias": 5, "c": 4}
