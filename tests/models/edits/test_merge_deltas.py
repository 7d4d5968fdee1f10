"""Merged deltas: the same outputs, and a plain model again."""

import pytest
import torch

import tiny
from models.deltas.tuned import with_delta
from niwaki.models.blueprint import is_stock
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.merge_deltas import MergeDeltas
from niwaki.models.forward import forward
from niwaki.models.model import load_folder
from niwaki.models.packed.int8 import Int8Linear


@torch.no_grad()
def logits(model):
    return forward(model.anatomy, tiny.batch(model)).logits


@pytest.mark.parametrize("family", ["bert", "albert", "mpnet", "gpt2"])
@pytest.mark.parametrize("kind", ["lora", "ia3"])
def test_merged_equals_unmerged_and_is_stock(kind, family):
    model = with_delta(kind, start=tiny.model(family))
    before, plain = logits(model), logits(tiny.model(family))
    model.apply_edit(MergeDeltas())
    torch.testing.assert_close(logits(model), before, atol=1e-4, rtol=1e-4)
    assert (before - plain).abs().max() > 0.01
    assert is_stock(model.network) and not model.blueprint.edits


def test_a_cut_model_with_a_merged_delta_loads(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Heads(keep=[[0, 2], [1], [3]]))
    model = with_delta("lora", start=model)
    model.apply_edit(MergeDeltas())
    model.save(tmp_path)
    assert torch.equal(logits(load_folder(tmp_path)), logits(model))


def test_packed_matrices_are_packed_again():
    model = tiny.model("bert")
    model.apply_edit(Int8())
    model = with_delta("lora", ["query"], start=model)
    before = logits(model)
    model.apply_edit(MergeDeltas())
    assert isinstance(model.network.bert.encoder.layer[0].attention.self.query, Int8Linear)
    torch.testing.assert_close(logits(model), before, atol=0.1, rtol=0)


def test_adapters_stay():
    model = with_delta("adapter", ["ffn_out"])
    before = logits(model)
    model.apply_edit(MergeDeltas())
    assert torch.equal(logits(model), before) and model.blueprint.edits
