"""Bytes, parameters and FLOPs of an artifact, by hand."""

import pytest

import tiny
from niwaki.evaluate.footprint import flops, footprint
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8


def by_hand(tokens: int, layers: int = 3, width: int = 32, ffn: int = 64, heads_width: int = 32) -> int:
    """2 × the products: in the last layer only the first token asks, and passes the feed-forward block."""
    total = 0
    for layer in range(layers):
        rows = 1 if layer == layers - 1 else tokens
        key_value = 2 * 2 * tokens * width * heads_width
        query_out = 2 * 2 * rows * width * heads_width
        attention = 2 * 2 * rows * tokens * heads_width
        total += key_value + query_out + attention + 2 * 2 * rows * width * ffn
    return total + 2 * width * width + 2 * width * 2  # the pooler and the classifier


def test_flops_by_hand():
    model = tiny.model("bert")
    assert flops(model, 11) == by_hand(11)
    model.apply_edit(Heads(keep=[2, 2, 2]))
    assert flops(model, 11) == by_hand(11, heads_width=16)


@pytest.mark.parametrize("packed", [False, True])
def test_flops_of_networks_without_attention_by_hand(packed):
    """Both texts' features are there for one text too. Of the pooling, only the products of weighted sums count."""
    tokens, width, hidden, pair = 11, 32, 64, 4
    last = 2 * hidden * 2  # 64 neurons to two logits
    lstm = (
        2 * 2 * tokens * 4 * 6 * (width + 6)
    )  # two directions, 4 gates of 6 units, each hears the input and the units
    products = 2 * 2 * tokens * width * 10 + 2 * (
        2 * 2 * tokens * 5
    )  # two matrices for 5 columns at two distances, and at each the mean of these in two texts
    wanted = {
        "averaging": 2 * 2 * tokens * width + products + 2 * pair * (width + 10) * hidden + last,
        "bilstm": lstm + 2 * 2 * tokens * 12 + 2 * pair * 24 * hidden + last,  # the mean of 12 states in two texts
        "cnn": 2 * tokens * (1 + 2 + 3) * width * 6 + 2 * pair * 18 * hidden + last,
    }
    for family, by_hand in wanted.items():
        model = tiny.model(family, layers=1)
        if packed:
            model.apply_edit(Int8())
        assert flops(model, tokens) == by_hand, family


def test_quantization_reduces_bytes_but_not_flops(tmp_path):
    found = []
    for number, model in enumerate((tiny.model("bert"), tiny.model("bert"))):
        if number:
            model.apply_edit(Int8())
        (tmp_path / str(number)).mkdir()
        model.save(tmp_path / str(number))
        found.append(footprint(model, tmp_path / str(number), 9))
    assert found[1]["bytes"] < 0.75 * found[0]["bytes"] and found[1]["flops"] == found[0]["flops"]
    assert found[0]["bytes"] == sum(path.stat().st_size for path in (tmp_path / "0").iterdir())
    assert found[0]["flops_tokens"] == 9 and found[0]["parameters"] > 0
