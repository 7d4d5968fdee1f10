import numpy as np
import pytest
import torch
from torch import nn

from models.fused.comparing import assert_same, compiled, poisoned
from niwaki.models.fused.add_norm import add_norm, fits
from niwaki.models.fused.library import draw_dropout

pytestmark = compiled


def norm_of(width: int) -> nn.LayerNorm:
    torch.manual_seed(width)
    norm = nn.LayerNorm(width)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm


@pytest.mark.parametrize("shape", [(1, 16), (3, 5), (40, 384), (9, 312)])
def test_outputs_and_gradients_agree_with_torch(shape: tuple[int, int]) -> None:
    mixed, rows, norm = poisoned(*shape), poisoned(*shape, seed=1), norm_of(shape[1])
    assert_same(
        lambda: add_norm(mixed, rows, norm, 0.0),
        lambda: norm((mixed + rows).float()),
        [mixed, rows, norm.weight, norm.bias],
    )


def expected_mask(count: int, rate: float) -> torch.Tensor:
    """The same hash in numpy."""
    drop = draw_dropout(rate)

    def mixed(x: np.ndarray) -> np.ndarray:
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
        x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
        return x ^ (x >> np.uint32(16))

    bits = mixed((np.arange(count, dtype=np.uint32) + np.uint32(drop.salt)) ^ np.uint32(drop.seed))
    return torch.from_numpy((bits >= drop.limit).astype(np.float32)) / (1 - rate)


def test_dropout_is_the_same_in_forward_and_backward_pass() -> None:
    mixed, rows, norm = poisoned(30, 40), poisoned(30, 40, seed=1), norm_of(40)
    torch.manual_seed(5)
    mask = expected_mask(30 * 40, 0.25).view(30, 40)
    torch.manual_seed(5)
    assert_same(
        lambda: add_norm(mixed, rows, norm, 0.25),
        lambda: norm(mixed.float() * mask + rows.float()),
        [mixed, rows, norm.weight, norm.bias],
    )


def test_dropout_drops_its_share() -> None:
    torch.manual_seed(0)
    share = float((expected_mask(100_000, 0.1) == 0).float().mean())
    assert abs(share - 0.1) < 0.005


def test_other_norms_are_left_to_torch() -> None:
    rows = torch.zeros(2, 4, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert fits(rows, rows, nn.LayerNorm(4))
        assert not fits(rows, rows, nn.RMSNorm(4))
        assert not fits(rows, rows, nn.LayerNorm(4, elementwise_affine=False))
        assert not fits(rows, rows.float(), nn.LayerNorm(4))
