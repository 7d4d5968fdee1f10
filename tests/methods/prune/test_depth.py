"""Shared by methods that remove layers: dry runs."""

import pytest

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.prune.hidden_size import HiddenSize
from niwaki.methods.prune.layers import Layers


@pytest.mark.parametrize("family", tiny.SIZED)
def test_dry_run_and_result_have_the_same_shape(family):
    for method in (Layers(count=2), HiddenSize(keep=0.5)):
        rehearsed, done = method.dry_prepare(tiny.model(family)), method.prepare(tiny.model(family), CONTEXT)
        shapes = [{name: value.shape for name, value in one.network.state_dict().items()} for one in (rehearsed, done)]
        assert shapes[0] == shapes[1]


def test_impossible_depths_are_rejected_in_the_dry_run():
    with pytest.raises(InputError, match="layers: count is 4 and there are 3; lower it"):
        Layers(count=4).dry_prepare(tiny.model("bert"))
    for method in (Layers(), HiddenSize()):
        with pytest.raises(InputError, match="has no attention layers"):
            method.dry_prepare(tiny.model("bilstm"))
