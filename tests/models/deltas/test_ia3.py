"""(IA)³ by hand, merged and unmerged."""

import pytest
import torch
from torch import nn

from niwaki.models.deltas._delta import Tuned
from niwaki.models.deltas.ia3 import Ia3, Ia3Settings


@pytest.mark.parametrize("scales, wanted", [("outputs", [28, 135]), ("inputs", [57, 113])])
def test_factors_scale_outputs_with_bias_or_inputs(scales, wanted):
    """W = (1 2; 2 4), b = 1, x = (3, 5), gain = (2, 5). Outputs: 2 · (3 + 10 + 1) and 5 · (6 + 20 + 1); inputs: (6, 25) gives
    6 + 50 + 1 and 12 + 100 + 1."""
    base = nn.Linear(2, 2)
    base.weight.data, base.bias.data = torch.tensor([[1.0, 2.0], [2.0, 4.0]]), torch.ones(2)
    tuned = Tuned(base, Ia3(2, 2, Ia3Settings(scales=scales)))
    tuned.delta.gain.data = torch.tensor([2.0, 5.0])
    assert tuned(torch.tensor([3.0, 5.0])).tolist() == wanted


@pytest.mark.parametrize("scales", ["outputs", "inputs"])
@pytest.mark.parametrize("bias", [True, False])
def test_merged_equals_unmerged(scales, bias):
    tuned = Tuned(nn.Linear(7, 5, bias=bias), Ia3(7, 5, Ia3Settings(scales=scales)))
    nn.init.normal_(tuned.delta.gain)
    x = torch.randn(4, 7)
    torch.testing.assert_close(tuned.to_dense()(x), tuned(x), atol=1e-5, rtol=0)
