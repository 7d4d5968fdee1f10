import pytest
import torch
from torch import Tensor, nn

from models.fused.comparing import assert_same, compiled
from niwaki.models.fused.pre_norm import fits, pre_norm

pytestmark = compiled


def rows_of(count: int, width: int) -> Tensor:
    """fp32 rows with NaN around them in memory."""
    around = torch.full((count + 2, width), torch.nan)
    inside = around[1:-1]
    inside.copy_(3 * torch.randn(count, width, generator=torch.Generator().manual_seed(width)) + 1)
    return inside.requires_grad_()


@pytest.mark.parametrize("shape", [(1, 5), (7, 33), (40, 256), (3, 300)])
def test_outputs_and_gradients_agree_with_torch(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    rows, norm = rows_of(*shape), nn.LayerNorm(shape[1])
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    assert_same(lambda: pre_norm(rows, norm), lambda: norm(rows), [rows, norm.weight, norm.bias])


def test_bf16_rows_and_other_norms_are_left_to_torch() -> None:
    rows = torch.zeros(2, 4)
    with torch.autocast("cpu", torch.bfloat16):
        assert fits(rows, nn.LayerNorm(4))
        assert not fits(rows.bfloat16(), nn.LayerNorm(4))
        assert not fits(rows, nn.LayerNorm(4, bias=False)) and not fits(rows, nn.RMSNorm(4))
