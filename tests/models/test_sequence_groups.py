"""Sequences that share a rectangle during attention."""

import pytest
import torch

from niwaki.models.sequence_groups import SequenceGroup, rows_of_queries, similar_lengths


@pytest.mark.parametrize(
    ("lengths", "groups"),
    [([], []), ([3], [[3]]), ([1, 9, 10], [[1, 9], [10]]), ([20, 33, 34], [[20, 33], [34]])],
)
def test_lengths_up_to_a_quarter_and_eight_tokens_more_share_a_group(lengths, groups):
    assert similar_lengths(lengths) == groups


def test_padding_is_hidden_and_has_no_place():
    group = SequenceGroup([1, 3], torch.device("cpu"), causal=False)
    assert (group.sequences, group.tokens, group.rows) == (2, 3, 4)
    assert group.places.tolist() == [0, 3, 4, 5]
    assert (group.mask_bias[:, 0, 0] == 0).tolist() == [[True, False, False], [True, True, True]]
    assert SequenceGroup([3, 3], torch.device("cpu"), causal=False).mask_bias is None


def test_tokens_that_are_not_visible_are_hidden_besides_padding():
    group = SequenceGroup([2, 3], torch.device("cpu"), causal=False)
    visible = torch.ones(2, 3, 3, dtype=torch.bool)
    visible[1, 0, 2] = False
    group.hide(visible)
    assert (group.mask_bias[:, 0] == 0).tolist() == [
        [[True, True, False]] * 3,
        [[True, True, False], [True] * 3, [True] * 3],
    ]


def test_queries_of_first_tokens_read_the_first_row_of_a_bias():
    bias = torch.arange(9.0).view(1, 1, 3, 3)
    assert rows_of_queries(bias, True) is bias and rows_of_queries(bias, False).tolist() == [[[[0, 1, 2]]]]
