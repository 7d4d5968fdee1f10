"""Pruning whole layers."""

import pytest
import torch

import tiny
from calibrated import CONTEXT, distance_to
from niwaki.methods._layer_choice import loss_after_edit
from niwaki.methods.prune.layers import Layers
from niwaki.models.edits.layers import Layers as LayersEdit
from niwaki.models.edits.share import Share


def silence(layer):
    """A layer that gives back what it got, but for a norm of it."""
    with torch.no_grad():
        for part in ("out", "ffn_out"):
            layer.part(part).weight.zero_()
            layer.part(part).bias.zero_()


@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet"])
def test_layers_without_effect_are_removed_first(family):
    model = tiny.model(family, layers=4)
    for norm in (module for module in model.network.modules() if isinstance(module, torch.nn.LayerNorm)):
        norm.weight.data.fill_(1.0)
        norm.bias.data.zero_()  # a norm of what is normed changes nothing
    for number in (1, 2):
        silence(model.anatomy.layers[number])
    before = tiny.logits(model, tiny.batch(model))
    model = Layers(count=2).prepare(model, distance_to(before))
    assert len(model.anatomy.layers) == 2
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-4, rtol=0)


def test_importance_is_measured_again_after_every_layer():
    model = tiny.model("bert", layers=3)
    batches = CONTEXT.calibration(model, 2)
    pairs = {
        pair: loss_after_edit(model, LayersEdit(keep=list(pair)), batches, CONTEXT) for pair in ((0, 1), (0, 2), (1, 2))
    }
    two = list(min(pairs, key=pairs.get))
    one = min(two, key=lambda number: loss_after_edit(model, LayersEdit(keep=[number]), batches, CONTEXT))
    for count, remaining in ((2, two), (1, [one])):
        model_after = Layers(count=count).prepare(model.clone(), CONTEXT)
        norms = [layer.part("ffn_norm").weight for layer in model_after.anatomy.layers]
        assert all(
            torch.equal(norm, model.anatomy.layers[number].part("ffn_norm").weight)
            for norm, number in zip(norms, remaining, strict=True)
        )


def test_a_repeated_layer_runs_less_often():
    model = Layers(count=2).prepare(tiny.model("albert", layers=4), CONTEXT)
    assert model.anatomy.order == [0, 0]


def test_layers_that_share_matrices_stay_shared():
    model = tiny.model("bert", layers=4)
    model.apply_edit(Share(of=[0, 0, 2, 2]))
    assert len(Layers(count=3).prepare(model, CONTEXT).anatomy.layers) == 3
