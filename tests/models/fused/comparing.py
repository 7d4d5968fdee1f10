"""Comparing the compiled kernels with the same computation in fp32 by torch."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from niwaki.models.fused.library import library

compiled = pytest.mark.skipif(library() is None, reason="no training kernels for this processor")
TOLERANCE = 0.01  # of the norm of the difference; a bf16 number is rounded by up to 0.004


def poisoned(*shape: int, seed: int = 0) -> Tensor:
    """Random bf16 rows, with NaN before, between and behind them in memory."""
    around = torch.full((shape[0] + 4, shape[1] + 32), torch.nan, dtype=torch.bfloat16)
    inside = around[2:-2, 16:-16]
    inside.copy_(torch.randn(shape, generator=torch.Generator().manual_seed(seed)))
    return inside.requires_grad_()


def linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """A linear layer whose parameters have NaN behind them in memory."""
    torch.manual_seed(inputs + outputs)
    module = nn.Linear(inputs, outputs, bias=bias)
    for name, parameter in list(module.named_parameters()):
        around = torch.full((parameter.numel() + 64,), torch.nan)
        around[: parameter.numel()] = parameter.detach().flatten().bfloat16()
        setattr(module, name, nn.Parameter(around[: parameter.numel()].view(parameter.shape)))
    return module


def assert_same(own: Callable[[], Tensor], reference: Callable[[], Tensor], inputs: Sequence[Tensor]) -> None:
    """Outputs and gradients of all inputs agree. The reference is computed in fp32."""
    with torch.autocast("cpu", torch.bfloat16):
        found = own()
    expected = reference()
    upstream = torch.randn(expected.shape, generator=torch.Generator().manual_seed(1)).bfloat16()
    gradients = [torch.autograd.grad(one, inputs, upstream.to(one.dtype)) for one in (found, expected)]
    for one, other in [(found, expected), *zip(*gradients, strict=True)]:
        assert difference(one, other) < TOLERANCE


def difference(found: Tensor, expected: Tensor) -> float:
    """Relative to the norm of what was expected; NaN where something is not finite."""
    one, other = found.detach().float(), expected.detach().float()
    return float((one - other).norm() / other.norm().clamp(min=1e-6))


def scores(
    query: Tensor, key: Tensor, lengths: Sequence[int], head_size: int, scale: float, causal: bool = False
) -> list[Tensor]:
    """Of each packed sequence (heads, queries, tokens), in fp32; the queries are those of all tokens, or one of each sequence."""
    counts, found = list(lengths) if len(query) == len(key) else [1] * len(lengths), list[Tensor]()
    for q, k in zip(query.split(counts), key.split(list(lengths)), strict=True):
        q, k = (one.float().unflatten(1, (-1, head_size)).transpose(0, 1) for one in (q, k))
        own = q @ k.transpose(1, 2) * scale
        found.append(own.masked_fill(torch.ones(own.shape[1:]).triu(1).bool(), -torch.inf) if causal else own)
    return found


def attended(
    query: Tensor, key: Tensor, value: Tensor, lengths: Sequence[int], head_size: int, scale: float, causal: bool
) -> Tensor:
    """Attention of packed sequences in fp32."""
    values = (one.unflatten(1, (-1, head_size)).transpose(0, 1) for one in value.float().split(list(lengths)))
    found = scores(query, key, lengths, head_size, scale, causal)
    mixed = [torch.softmax(own, dim=-1) @ one for own, one in zip(found, values, strict=True)]
    return torch.cat([one.transpose(0, 1).flatten(1) for one in mixed])
