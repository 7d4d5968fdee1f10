"""Which models may read fewer tokens in later layers."""

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.convert._shortening import shortening_layers


def test_early_exits_are_rejected():
    model = tiny.model("bert")
    assert len(shortening_layers(model, "token_dropping")) == 3
    model.network.config.niwaki_exits = [1, 3]
    with pytest.raises(InputError, match="early exits need every token"):
        shortening_layers(model, "token_dropping")
