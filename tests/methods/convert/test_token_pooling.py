"""Texts halved between layers."""

import pytest

import tiny
from converted import check_saved_and_exported
from niwaki.core.errors import InputError
from niwaki.evaluate.footprint import flops
from niwaki.methods.convert.token_pooling import TokenPooling
from niwaki.models.layer import reduction_of


def test_the_layer_in_the_middle_halves_the_text(tmp_path):
    model = TokenPooling().dry_prepare(tiny.model("bert"))
    assert [reduction_of(layer) is None for layer in model.anatomy.layers] == [True, False, True]
    assert flops(model, 41) < 0.9 * flops(tiny.model("bert"), 41)
    check_saved_and_exported(model, tmp_path)


def test_layers_can_be_named(tmp_path):
    model = TokenPooling(layers=[0, 1]).dry_prepare(tiny.model("bert"))
    check_saved_and_exported(model, tmp_path)


def test_shared_layers_are_rejected():
    with pytest.raises(InputError, match="are shared"):
        TokenPooling().dry_prepare(tiny.model("albert"))
