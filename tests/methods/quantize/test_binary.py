"""Binary weights: values worked out by hand."""

import torch

from niwaki.methods.quantize.binary import BinaryRounding


def test_signs_times_the_mean_magnitude():
    weight = torch.tensor([[1.0, -3.0, 0.5, 5.0]], requires_grad=True)
    rounding = BinaryRounding(weight, 2, 3)
    assert rounding.scale(weight.detach()).tolist() == [[3.0, 10.0]]  # twice 4.5 / 3, twice 5
    seen = rounding(weight)
    assert seen.tolist() == [[1.5, -1.5, 1.5, 5.0]]
    seen.backward(torch.tensor([[1.0, 2.0, 3.0, 4.0]]))
    assert weight.grad.tolist() == [[1.0, 2.0, 3.0, 4.0]]  # as if nothing were rounded
