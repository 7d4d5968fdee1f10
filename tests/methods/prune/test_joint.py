"""Gates over whole blocks."""

import pytest
import torch

import tiny
from niwaki.methods.prune.joint import Joint
from niwaki.methods.prune.l0 import L0
from niwaki.models.edits.blocks import gone

from .gated import CONTEXT


def test_a_closed_block_is_removed():
    method = Joint()
    model = method.prepare(tiny.model("bert"), CONTEXT)
    with torch.no_grad():
        method._gates.neurons[1].whole.fill_(-1.0)
        method._gates.heads[2].whole.fill_(-1.0)
    wanted = tiny.logits(model, tiny.batch(model))
    model = method.finish(model)
    assert [layer.ffn_size for layer in model.anatomy.layers] == [62, 1, 62]  # 98 of 100 are expected to be open
    assert gone(model.anatomy.layers, "ffn") == [1] and gone(model.anatomy.layers, "attention") == [2]
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), wanted, atol=2e-5, rtol=0)
    again = L0(target=0.8)
    model = again.finish(again.prepare(again.dry_prepare(model), CONTEXT))
    assert gone(model.anatomy.layers, "ffn") == [1] and model.anatomy.layers[0].ffn_size < 63


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_one_attention_block_stays(family):
    method = Joint()
    model = method.prepare(tiny.model(family), CONTEXT)
    with torch.no_grad():
        for gate in method._gates.heads:
            gate.whole.fill_(-1.0)
    wanted = tiny.logits(model, tiny.batch(model))
    model = method.finish(model)
    assert gone(model.anatomy.layers, "attention") == list(range(1, len(model.anatomy.layers)))
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), wanted, atol=2e-5, rtol=0)
