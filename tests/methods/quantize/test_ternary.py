"""Ternary weights: values worked out by hand."""

import torch

from niwaki.methods.quantize.ternary import ternarize


def test_signs_and_magnitudes():
    """Mean sizes 1.0 and 0.5, so 0.7 and 0.35 must be passed; of the short group there is one."""
    signs, size = ternarize(torch.tensor([[1.2, -0.6, -2.0, 0.2, -0.5]]), 4)
    assert signs.tolist() == [[[1, 0, -1, 0], [-1, 0, 0, 0]]]
    torch.testing.assert_close(size, torch.tensor([[1.6, 0.5]]))
    assert ternarize(torch.zeros(1, 3), 3)[1].tolist() == [[0.0]]
