"""Cutting a supernet."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.prune.heads import Heads
from niwaki.methods.prune.subnet import Subnet
from niwaki.methods.prune.supernet import Supernet


def test_the_most_important_heads_and_neurons_stay():
    """In each layer, head 0 and the neurons from 32 on do nothing."""
    model = tiny.model("bert", seed=3)
    with torch.no_grad():
        for layer in model.anatomy.layers:
            layer.part("out").weight[:, :8] = 0
            layer.part("ffn_out").weight[:, 32:] = 0
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model = Subnet(heads=0.75, ffn=0.5).prepare(Supernet(batches=2).prepare(model, CONTEXT), CONTEXT)
    assert {(layer.heads, layer.ffn_size) for layer in model.anatomy.layers} == {(3, 32)}
    torch.testing.assert_close(tiny.logits(model, batch), before, atol=1e-5, rtol=0)


def test_layers_are_evenly_spaced():
    model = Subnet(layers=2, heads=1.0, ffn=1.0).prepare(
        Supernet(batches=2).prepare(tiny.model("bert"), CONTEXT), CONTEXT
    )
    assert len(model.anatomy.layers) == 2


def test_a_network_that_was_not_trained_for_it_is_rejected():
    model = tiny.model("bert")
    with pytest.raises(InputError, match="was not trained by 'supernet'"):
        Subnet().dry_prepare(model)
    cut = Heads(keep=0.5).prepare(Supernet(batches=2).prepare(model, CONTEXT), CONTEXT)
    with pytest.raises(InputError, match="or was cut since"):
        Subnet().prepare(cut, CONTEXT)


def test_more_layers_than_there_are_are_rejected():
    model = Supernet().dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="layers is 4 and there are 3"):
        Subnet(layers=4).dry_prepare(model)
