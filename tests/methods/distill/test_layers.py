"""Layer mapping and masked errors."""

import pytest
import torch

from niwaki.methods.distill._layers import layer_map, masked_mse


def test_layer_mapping():
    assert layer_map(3, 6, "uniform") == [1, 3, 5]
    assert layer_map(4, 12, "uniform") == [2, 5, 8, 11]
    assert layer_map(2, 3, "uniform") == [0, 2]
    assert layer_map(3, 6, "top") == [3, 4, 5]
    assert layer_map(6, 6, "uniform") == layer_map(6, 6, "top") == [0, 1, 2, 3, 4, 5]


def test_masked_mean_squared_error():
    """Two tokens of width 2, the second is padding: (1² + 3²) / 2; what lies in padding does not count."""
    a = torch.tensor([[[1.0, 3.0], [100.0, 100.0]]])
    real = torch.tensor([[1.0, 0.0]])
    assert masked_mse(a, torch.zeros_like(a), real[..., None]).item() == pytest.approx(5.0)
    pairs = real[:, None, :, None] * real[:, None, None, :]
    scores = torch.tensor([[[[2.0, 50.0], [50.0, 50.0]], [[4.0, 50.0], [50.0, 50.0]]]])  # 2 heads: (4 + 16) / 2
    assert masked_mse(scores, torch.zeros_like(scores), pairs).item() == pytest.approx(10.0)
