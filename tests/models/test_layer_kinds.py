"""Every family's layers are of a kind that exists, and say what stays."""

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.models.anatomy import require_equal_sizes
from niwaki.models.layer_kinds import KINDS


@pytest.mark.parametrize("family", tiny.WITH_LAYERS)
def test_layers_that_stay_as_they_are_say_what_to_take(family):
    anatomy = tiny.model(family, layers=1).anatomy
    kind = KINDS[tiny.ABOUT[family].layer.stack.kind]
    assert type(anatomy.layers[0]) is kind
    if tiny.ABOUT[family].layer.stack.kind == "plain":
        require_equal_sizes(anatomy, "hidden_size")
    else:
        with pytest.raises(InputError, match=r"hidden_size: .*take 'heads', 'ffn'"):
            require_equal_sizes(anatomy, "hidden_size")
