"""Which token is whose, and what a text is made of: by hand, on a few tokens."""

import torch

from niwaki.models.networks.texts import compared, highest, mean, shares, texts_of, with_first_text

CLS, SEP, PAD = 2, 3, 0


def test_the_first_separator_ends_the_first_text():
    ids = torch.tensor([[CLS, 7, SEP, 8, 9, SEP], [CLS, 7, 7, SEP, PAD, PAD]])
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    assert texts_of(ids, mask, SEP, 2).tolist() == [
        [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]],
        [[1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]],
    ]
    assert texts_of(ids, mask, SEP, 1).tolist() == [[[1, 1, 1, 1, 1, 1]], [[1, 1, 1, 1, 0, 0]]]


def test_two_separators_between_the_texts_as_some_tokenizers_write():
    ids = torch.tensor([[CLS, 7, SEP, SEP, 8, SEP]])
    assert texts_of(ids, torch.ones_like(ids), SEP, 2)[0].tolist() == [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]


def test_without_a_separator_all_is_one_text():
    ids = torch.tensor([[CLS, SEP, 8]])
    assert texts_of(ids, torch.ones_like(ids), None, 2)[0].tolist() == [[1, 1, 1], [0, 0, 0]]


STATES = torch.tensor([[[1.0, -4.0], [3.0, -2.0], [99.0, 99.0]]])  # the third token is padding
FIRST, SECOND, NONE = [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]


def test_highest_and_mean_by_hand():
    texts = torch.tensor([[FIRST, SECOND, NONE]])
    assert highest(STATES, texts).tolist() == [[[3, -2], [3, -2], [0, 0]]]
    assert mean(STATES, texts).tolist() == [[[2, -3], [3, -2], [0, 0]]]


def test_shares_add_up_to_one_in_each_text():
    found = shares(torch.tensor([[1.0, 3.0, 50.0]]).log(), torch.tensor([[FIRST, SECOND, NONE]]))
    torch.testing.assert_close(found, torch.tensor([[[0.25, 0.75, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]]))


def test_a_pair_is_compared_by_distance_and_product():
    texts = torch.tensor([[[1.0, 2.0], [3.0, -2.0]]])
    assert compared(texts).tolist() == [[1, 2, 3, -2, 2, 4, 3, -4]]
    assert compared(texts[:, :1]).tolist() == [[1, 2]]


def test_tokens_are_shown_what_the_first_text_says():
    states = torch.tensor([[[1.0], [5.0], [2.0]]])
    found = with_first_text(states, torch.tensor([[[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]))
    assert found.tolist() == [[[1, 5, 5], [5, 5, 25], [2, 5, 10]]]
    assert with_first_text(states, torch.ones(1, 1, 3)) is states
