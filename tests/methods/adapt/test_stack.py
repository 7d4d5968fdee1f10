"""Deeper networks whose layers are copies."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.adapt.stack import Stack
from niwaki.models.edits.heads import Heads
from niwaki.models.forward import forward


def layers(model):
    return [model.anatomy.layers[number].part("query").weight for number in range(len(model.anatomy.layers))]


@pytest.mark.parametrize("order, sources", [("stack", [0, 1, 0, 1]), ("repeat", [0, 0, 1, 1])])
def test_layers_are_copied_in_order(order, sources):
    start = tiny.model("bert", layers=2, head="MaskedLM", labels=[])
    found = Stack(order=order).prepare(start.clone(), None)
    assert len(found.anatomy.order) == 4 and not found.blueprint.edits
    for copy, source in zip(layers(found), sources, strict=True):
        assert torch.equal(copy, layers(start)[source])
    assert torch.equal(found.anatomy.tokens.weight, start.anatomy.tokens.weight)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_family_can_be_stacked(family):
    """All tensors of the start model are there."""
    start = tiny.model(family, layers=2)
    batch = tiny.batch(start)
    found = Stack(layers=3).prepare(start.clone(), None)
    assert len(found.anatomy.order) == 3
    own, states = start.network.state_dict(), found.network.state_dict()
    assert set(own) <= set(states) and all(torch.equal(own[name], states[name]) for name in own)
    assert forward(found.anatomy, batch).logits.shape == forward(start.anatomy, batch).logits.shape
    assert Stack(layers=3).dry_prepare(start.clone()).parameters() == found.parameters()


def test_a_stacked_network_saves_and_loads(tmp_path):
    from niwaki.models.model import load_folder

    found = Stack().prepare(tiny.model("bert", layers=1), None)
    found.save(tmp_path)
    batch = tiny.batch(found)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(found, batch))


def test_what_cannot_be_stacked_is_rejected():
    with pytest.raises(InputError, match="layers 2 is not more than the start model's 2"):
        Stack(layers=2).dry_prepare(tiny.model("bert", layers=2))
    with pytest.raises(InputError, match="has no attention layers"):
        Stack().dry_prepare(tiny.model("averaging"))
    edited = tiny.model("bert", layers=1)
    edited.apply_edit(Heads(keep=[[0]]))
    with pytest.raises(InputError, match="was edited by other methods"):
        Stack().dry_prepare(edited)
