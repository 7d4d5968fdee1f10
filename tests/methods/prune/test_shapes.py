"""Shapes within a network run as the network cut to them."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.prune._shapes import Shape, cut, running
from niwaki.models.forward import forward

FAMILIES = ("bert", "mpnet", "albert", "modernbert", "deberta_v2", "xlnet", "llama")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_shape_computes_what_the_cut_network_does(family, mode):
    """Also gradients: of what is left out there are none."""
    model = tiny.model(family, layers=4, seed=2)
    getattr(model.network, mode)()
    for module in model.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    batch, draw = tiny.batch(model, pairs=family != "llama"), torch.Generator().manual_seed(5)
    order = [torch.randperm(layer.heads, generator=draw).tolist() for layer in model.anatomy.attentions]
    shape = Shape(3, 0.5, 0.3)
    with running(model.anatomy, shape, order) as small:
        found = forward(small, batch).logits
    whole = forward(model.anatomy, batch).logits
    small = model.clone()
    cut(small, shape, order)
    wanted = forward(small.anatomy, batch).logits
    assert small.parameters() < model.parameters() and not torch.allclose(whole, wanted, atol=1e-3)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    torch.testing.assert_close(forward(model.anatomy, batch).logits, whole)  # nothing is left behind


def test_the_whole_shape_needs_no_edit():
    model = tiny.model("bert")
    cut(model, Shape(3, 1.0, 1.0), [list(range(4))] * 3)
    assert model.blueprint.edits == []


def test_more_layers_than_there_are_are_rejected():
    model = tiny.model("bert")
    with pytest.raises(InputError, match="layers: 4 of 3 are named"):
        cut(model, Shape(4, 1.0, 1.0), [list(range(4))] * 3)
