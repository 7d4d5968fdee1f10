"""Freezing embeddings and layers."""

import pytest

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.freeze import Freeze


def test_layers_are_frozen_and_released():
    model = Freeze(layers=2).prepare(tiny.model("bert"), CONTEXT)
    frozen = {name for name, parameter in model.network.named_parameters() if not parameter.requires_grad}
    assert frozen and all(".embeddings." in name or ".layer.0." in name or ".layer.1." in name for name in frozen)
    assert any(".layer.1.output" in name for name in frozen)
    assert all(parameter.requires_grad for parameter in Freeze().finish(model).network.parameters())
    with pytest.raises(InputError, match="layers is 4 and the model has 3"):
        Freeze(layers=4).prepare(tiny.model("bert"), CONTEXT)
