"""Pooling of hidden states, worked out by hand."""

import pytest
import torch

from niwaki.models.pooling import normalized, pool

HIDDEN = torch.tensor([[[1.0, -4.0], [3.0, -2.0], [99.0, 99.0]], [[2.0, 5.0], [2.0, 5.0], [5.0, 2.0]]])
MASK = torch.tensor([[1, 1, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    "mode, wanted",
    [
        ("mean", [[2.0, -3.0], [3.0, 4.0]]),
        ("cls", [[1.0, -4.0], [2.0, 5.0]]),
        ("max", [[3.0, -2.0], [5.0, 5.0]]),
        ("mean_sqrt_len_tokens", [[4 / 2**0.5, -6 / 2**0.5], [9 / 3**0.5, 12 / 3**0.5]]),
    ],
)
def test_padding_is_left_out_of_every_mode(mode, wanted):
    torch.testing.assert_close(pool(HIDDEN, MASK, mode), torch.tensor(wanted))


def test_normalized_vectors_have_length_one():
    torch.testing.assert_close(normalized(torch.tensor([[3.0, 4.0]])), torch.tensor([[0.6, 0.8]]))
    assert torch.isfinite(normalized(torch.zeros(1, 2))).all()
