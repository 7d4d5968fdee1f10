"""Whole models with fixed ranges: saved, loaded, exported and cut."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.engines.export import write_graph
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.edits.static import Static
from niwaki.models.forward import run_padded
from niwaki.models.model import Model, load_folder
from niwaki.models.networks.lstm import Int8Lstm
from niwaki.models.packed.int8 import Int8Embedding
from niwaki.models.packed.rounding import range_of
from niwaki.models.packed.static import StaticInt8Linear
from niwaki.models.packed.store import StoredLinear

FAMILIES = ("bert", "albert", "electra", "averaging", "bilstm", "cnn")


def packed(family: str) -> Model:
    model = tiny.model(family)
    ranges = {path: range_of(torch.tensor(-4.0), torch.tensor(4.0)) for path in model.anatomy.matrices()}
    model.apply_edit(Static().with_ranges(ranges))
    return model


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_saved_loaded_and_in_the_engine_it_gives_the_same(family, tmp_path):
    model = packed(family)
    assert all(
        isinstance(model.network.get_submodule(path), StaticInt8Linear | Int8Lstm) for path in model.anatomy.matrices()
    )
    assert isinstance(model.anatomy.tokens, Int8Embedding)
    model.save(tmp_path)
    write_graph(model, tmp_path)
    again, batch = load_folder(tmp_path), tiny.batch(model, pairs=True)
    assert torch.equal(tiny.logits(again, batch), tiny.logits(model, batch))
    assert again.blueprint.edits == [Static()] and model.blueprint.edits[0]._ranges == {}
    ids, mask = batch.inputs["input_ids"], batch.mask
    types = batch.inputs.get("token_type_ids", torch.zeros_like(mask))
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    wanted = run_padded(model.anatomy, inputs).numpy()
    found = Onnx(tmp_path, 1).logits({name: tensor.numpy() for name, tensor in inputs.items()})
    assert (
        np.abs(found - wanted).max() < 0.02 * np.abs(wanted).max()
    )  # a number on the edge of two steps may fall to either


def test_it_is_cut_shared_and_packed_further(tmp_path):
    model = packed("bert")
    model.apply_edit(Heads(keep=[[0, 2], [1, 3], [0, 1]]))
    model.apply_edit(Ffn(keep=[20, 20, 20]))
    model.apply_edit(Share(of=[0, 0, 2]))
    query = model.anatomy.layers[1].part("query")
    assert isinstance(query, StaticInt8Linear) and float(query.step) == pytest.approx(8 / 255)
    model.save(tmp_path)
    batch = tiny.batch(model)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))
    model.apply_edit(Static())  # is so already
    assert model.anatomy.layers[1].part("query") is query
    model.apply_edit(LowBit(base=4))
    assert isinstance(model.anatomy.layers[0].part("query"), StoredLinear)
    model.apply_edit(Static())
    assert isinstance(model.anatomy.layers[0].part("query"), StoredLinear)


def test_the_table_may_stay():
    model = tiny.model("bert")
    model.apply_edit(Static(embeddings=False))
    assert isinstance(model.anatomy.tokens, torch.nn.Embedding)
