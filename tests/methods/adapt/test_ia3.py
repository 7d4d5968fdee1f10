"""(IA)³ as a method."""

import pytest

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.ia3 import Ia3
from niwaki.models.trunk import is_of_delta


def test_keys_values_and_inner_activations_are_scaled():
    model = Ia3().prepare(tiny.model("bert"), CONTEXT)
    sizes = [one.numel() for name, one in model.network.named_parameters() if is_of_delta(name)]
    assert sizes == [32, 32, 64] * 3


def test_nothing_to_scale_is_rejected():
    with pytest.raises(InputError, match="ia3: outputs and inputs are empty; name a matrix"):
        Ia3(outputs=[], inputs=[]).dry_prepare(tiny.model("bert"))
    assert Ia3(inputs=[]).dry_prepare(tiny.model("bert")).blueprint.edits
