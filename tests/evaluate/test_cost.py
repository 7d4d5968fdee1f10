"""The cost of a model by length and part."""

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.evaluate import cost as costs
from niwaki.evaluate.cost import break_even, bytes_of, cost, parts_of
from niwaki.evaluate.footprint import flops
from niwaki.methods.convert.linear_attention import LinearAttention


def test_operations_of_the_parts_add_up_to_those_of_the_model():
    for family in ("bert", "mpnet", "albert", "modernbert"):
        model = tiny.model(family)
        assert sum(part.operations for part in parts_of(model, 20).values()) == flops(model, 20)


def test_operations_of_a_layer_by_hand():
    """Two layers of all tokens and one of the first alone, hidden size 32, 64 neurons, 20 tokens."""
    parts = parts_of(tiny.model("bert"), 20)
    whole, first = 2 * 4 * 20 * 32 * 32 + 4 * 20 * 20 * 32, 2 * (2 * 20 + 2) * 32 * 32 + 4 * 20 * 32
    assert parts["mixer"].operations == 2 * whole + first
    assert parts["feed_forward"].operations == 2 * (2 * 2 * 20 * 32 * 64) + 2 * 2 * 32 * 64


@pytest.mark.parametrize("is_converted", [False, True])
def test_bytes_of_the_parts_add_up_to_the_weights(is_converted):
    model = tiny.model("bert")
    model = LinearAttention().dry_prepare(model) if is_converted else model
    found = bytes_of(model)
    assert sum(found.values()) == 4 * sum(parameter.numel() for parameter in model.network.parameters())
    assert found["feed_forward"] == 3 * 4 * (2 * 32 * 64 + 32 + 64)
    assert found["mixer"] == 3 * 4 * (4 * (32 * 32 + 32) + is_converted * 2 * (4 * 8 * 8 + 4 * 8))


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        ({10: 2.0, 20: 3.0, 40: 4.0}, 15),  # 1 slower at 10, 1 faster at 20
        ({10: 0.5, 20: 3.0, 40: 4.0}, 10),
        ({10: 0.5, 20: 5.0, 40: 4.0}, 24),  # slower in between
        ({10: 0.5, 20: 3.0, 40: 9.0}, None),
    ],
)
def test_the_break_even_length_is_on_a_straight_line(after, wanted):
    assert break_even({10: 1.0, 20: 4.0, 40: 8.0}, after) == wanted


def test_conversions_are_timed_and_those_that_do_not_fit_say_why(monkeypatch):
    monkeypatch.setattr(costs, "CONVERSIONS", {"window": {"window": 2}, "token_dropping": {}})
    monkeypatch.setattr(costs, "SHORTEST", 0.0)
    found = cost(tiny.model("mpnet"), [8, 90], compare=True)  # longer than the model reads
    assert [one["tokens"] for one in found["lengths"]] == [8, 90]
    assert [one["name"] for one in found["conversions"]] == ["unchanged", "window"]
    assert all(spent > 0 for one in found["conversions"] for spent in one["seconds"].values())
    assert "counts the distance" in found["rejected"]["token_dropping"]


def test_models_without_layers_are_rejected():
    with pytest.raises(InputError, match="niwaki bench"):
        cost(tiny.model("cnn"), [8], compare=False)
