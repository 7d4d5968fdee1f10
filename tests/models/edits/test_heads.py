"""Removed attention heads."""

import pytest
import torch

import tiny
from niwaki.models.edits.heads import Heads
from niwaki.models.model import load_folder


@pytest.mark.parametrize("family", ["mpnet", "bert"])
def test_order_of_the_given_heads_does_not_matter(family, tmp_path):
    """MPNet adds a bias to each head by its number: a stock skeleton could not know of another order."""
    model = tiny.model(family)
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model.apply_edit(Heads(keep=[[3, 1, 0, 2]] * 3))
    model.save(tmp_path)
    for found in (model, load_folder(tmp_path)):
        torch.testing.assert_close(tiny.logits(found, batch), before, atol=1e-6, rtol=0)
    assert model.blueprint.edits == []
