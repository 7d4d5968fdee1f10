"""Which layers are kept."""

import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods._layer_choice import evenly_spaced
from niwaki.methods.prune.layers import Layers


def test_evenly_spaced_layers_are_chosen_by_fraction_or_count():
    assert evenly_spaced(6, 3) == [1, 3, 5] and evenly_spaced(6, 1) == [5]
    remaining = tiny.model("bert", layers=4)
    norms = [layer.part("ffn_norm").weight.clone() for layer in remaining.anatomy.layers]
    remaining = Layers(keep=0.5, choose="spread").prepare(remaining, CONTEXT)
    assert [
        torch.equal(layer.part("ffn_norm").weight, norms[number])
        for layer, number in zip(remaining.anatomy.layers, (1, 3), strict=True)
    ] == [True, True]
    assert len(Layers(keep=0.01).dry_prepare(tiny.model("bert")).anatomy.layers) == 1
