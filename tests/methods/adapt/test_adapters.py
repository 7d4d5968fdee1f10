"""Adapters as a method: places and sizes."""

import pytest

import tiny
from calibrated import CONTEXT
from niwaki.methods.adapt.adapters import Adapters
from niwaki.models.deltas._delta import tuned_paths


@pytest.mark.parametrize("placement, places", [("houlsby", 2), ("pfeiffer", 1)])
def test_one_or_two_adapters_a_layer(placement, places):
    model = Adapters(placement=placement, reduction=8).prepare(tiny.model("bert"), CONTEXT)
    paths = list(tuned_paths(model.network))
    assert len(paths) == 3 * places and sum("attention" in path for path in paths) == 3 * (places - 1)
    delta = model.network.get_submodule(paths[-1]).delta
    assert delta.down.weight.shape == (4, 32) and delta.up.weight.shape == (32, 4)
