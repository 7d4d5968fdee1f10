"""Relative positions of DeBERTa: buckets by hand and as transformers computes them."""

import pytest
import torch
from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position

from niwaki.models.relative_positions import bucket, rows_by_distance


def test_near_distances_have_buckets_of_their_own():
    assert [bucket(distance, 8, 20) for distance in (0, 1, 4)] == [0, 1, 4]
    assert bucket(19, 8, 20) == 7  # the last one
    assert rows_by_distance(3, 0, 10) == [8, 9, 10, 11, 12]


@pytest.mark.parametrize(("buckets", "longest", "tokens"), [(256, 512, 512), (8, 20, 66), (32, 128, 300)])
def test_buckets_equal_those_of_transformers(buckets, longest, tokens):
    states = torch.zeros(1, tokens, 1)
    wanted = build_relative_position(states, states, buckets, longest)[0]  # (queries, keys)
    places = torch.arange(tokens)
    rows = torch.tensor(rows_by_distance(tokens, buckets, longest))
    found = rows[places[:, None] - places[None] + tokens - 1]
    assert torch.equal(found, (wanted + buckets).clamp(0, 2 * buckets - 1))
