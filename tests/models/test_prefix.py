"""Prefixes of layers, and the positions that they take. Models with a prefix are tested in edits/test_prefix.py."""

import torch
from torch import nn

from niwaki.models.prefix import Prefix, behind_prefix, prefix_of, put_prefix, taken_positions


def prefix(tokens: int = 2, takes_positions: bool = False) -> Prefix:
    return Prefix(torch.arange(4.0 * tokens).view(tokens, 4), torch.ones(tokens, 4), takes_positions)


def test_only_some_heads_are_left():
    cut = prefix(takes_positions=True).cut([3, 0])
    assert cut.keys.tolist() == [[3, 0], [7, 4]] and cut.values.shape == (2, 2) and cut.takes_positions


def test_random_prefixes_have_the_given_deviation():
    torch.manual_seed(0)
    drawn = Prefix.drawn(100, 50, 0.1)
    assert drawn.keys.shape == (100, 50) and 0.09 < drawn.keys.std() < 0.11 and 0.09 < drawn.values.std() < 0.11
    assert not torch.equal(drawn.keys, drawn.values)


def test_a_prefix_is_put_into_a_layer_once():
    layer = nn.Linear(2, 2).eval()
    assert prefix_of(layer) is None
    put_prefix(layer, prefix())
    put_prefix(layer, other := prefix(3))
    assert prefix_of(layer) is other and not other.training
    layer.delta = nn.Linear(2, 2)
    assert prefix_of(layer) is None  # a delta of another kind


def test_positions_are_taken_where_a_prefix_says_so():
    layers = [nn.Linear(2, 2) for _ in range(3)]
    assert taken_positions(layers) == 0
    put_prefix(layers[1], prefix(2))
    assert taken_positions(layers) == 0
    put_prefix(layers[1], prefix(2, takes_positions=True))
    assert taken_positions(layers) == 2


def test_texts_begin_behind_the_prefix():
    inputs = {"input_ids": torch.tensor([[5, 6, 7], [8, 9, 0]])}
    assert behind_prefix(inputs, 0, 2) is inputs
    assert behind_prefix(inputs, 4, 2)["position_ids"].tolist() == [[6, 7, 8], [6, 7, 8]]
    given = {**inputs, "position_ids": torch.tensor([[0, 1, 0], [0, 1, 2]])}
    assert behind_prefix(given, 4, 2)["position_ids"].tolist() == [[4, 5, 4], [4, 5, 6]]
    assert given["position_ids"][0, 0] == 0
