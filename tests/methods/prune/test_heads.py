"""Pruning attention heads."""

import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.prune.heads import Heads


def test_unused_heads_are_removed_first():
    model = tiny.model("bert")
    for number, layer in enumerate(model.anatomy.layers):
        with torch.no_grad():
            layer.part("out").weight[:, 8 * number : 8 * number + 8] = 0
    before = tiny.logits(model, tiny.batch(model))
    model = Heads(keep=0.75).prepare(model, CONTEXT)
    assert [layer.heads for layer in model.anatomy.layers] == [3, 3, 3]
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-5, rtol=0)


def test_at_least_one_head_stays():
    assert [layer.heads for layer in Heads(keep=0.01).prepare(tiny.model("bert"), CONTEXT).anatomy.layers] == [1, 1, 1]
