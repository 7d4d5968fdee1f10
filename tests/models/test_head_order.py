"""The order of heads in a config."""

import json

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.models.head_order import forget_head_order, head_order, set_head_order
from niwaki.models.model import load_folder


def test_a_network_has_none_until_it_is_set(tmp_path):
    model = tiny.model("bert")
    assert head_order(model.network) is None
    set_head_order(model.network, [[1, 0, 3, 2]] * 3)
    model.save(tmp_path)
    again = load_folder(tmp_path).network
    assert head_order(again) == [[1, 0, 3, 2]] * 3
    forget_head_order(again)
    assert head_order(again) is None


@pytest.mark.parametrize("wrong", [[], [[0, 0]], [[1, 2]], [[0.5, 1]], [[True, 0]], "01", [[0, 1], "x"], [[]]])
def test_what_is_no_order_is_rejected(tmp_path, wrong):
    tiny.model("bert").save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "niwaki_head_order": wrong}))
    with pytest.raises(InputError, match="niwaki_head_order"):
        load_folder(tmp_path)
