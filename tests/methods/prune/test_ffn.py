"""Pruning feed-forward neurons."""

import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.prune.ffn import Ffn, round_up_share


def test_rounding_up_the_fraction():
    assert round_up_share(1536, 0.33, 64) == 512  # 506.9 rounded up to the next 64
    assert round_up_share(1536, 0.5, 64) == 768
    assert round_up_share(64, 0.5, 64) == 64  # never more than there are
    assert round_up_share(100, 0.99, 64) == 100
    assert round_up_share(10, 0.01, 1) >= 1


def test_unused_neurons_are_removed_first():
    model = tiny.model("bert")
    for layer in model.anatomy.layers:
        with torch.no_grad():
            layer.part("ffn_out").weight[:, 1::2] = 0
    before = tiny.logits(model, tiny.batch(model))
    model = Ffn(keep=0.5, multiple=1).prepare(model, CONTEXT)
    assert [layer.ffn_size for layer in model.anatomy.layers] == [32, 32, 32]
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-5, rtol=0)
