"""What lies on top of each other: layers of transformers, LSTM layers of both directions, nothing in a bag of words."""

import pytest

import stock
import tiny
from niwaki.core.errors import InputError
from niwaki.models.depths import depths, require_depths, state_sizes
from niwaki.models.model import Model


@pytest.mark.parametrize(
    "family, modules, sizes",
    [
        ("bert", 1, [32] * 3),
        ("albert", 1, [32] * 3),
        ("lstm_lm", 1, [32, 6, 32]),
        ("bilstm_lm", 2, [32, 12, 64]),
        ("bilstm", 1, [32, 12]),
    ],
)
def test_modules_and_sizes_of_each_depth(family, modules, sizes):
    anatomy = tiny.model(family, layers=2).anatomy
    found = depths(anatomy)
    assert len(found) == len({id(one) for one in found}) == (1 if family == "albert" else 2)
    assert {len(one) for one in found} == {modules} and state_sizes(anatomy) == sizes


def test_both_directions_of_a_depth_belong_together():
    model = tiny.model("bilstm_lm", layers=2)
    first, second = depths(model.anatomy)
    assert [one.direction for one in first] == ["forward", "reverse"] == [one.direction for one in second]
    assert first[0] is model.network.body.lstm[0] and second[1] is model.network.body.lstm[3]


def test_networks_that_stack_nothing_are_rejected():
    with pytest.raises(InputError, match="this: a model of family 'averaging' has no layers on top of each other"):
        require_depths(tiny.model("averaging").anatomy, "this")


@pytest.mark.parametrize("family", stock.CLASSES)
def test_encoders_of_sequence_to_sequence_networks_have_layers(family):
    assert depths(Model(stock.network(family), None).anatomy)
