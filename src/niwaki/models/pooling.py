"""Pools the hidden states of a sequence into one vector."""

import torch
from torch import Tensor


def pool(hidden: Tensor, mask: Tensor, mode: str) -> Tensor:
    """Padded hidden states (batch, tokens, hidden) and their mask (batch, tokens) to (batch, hidden)."""
    if mode == "cls":
        return hidden[:, 0]
    if mode == "last":
        places = mask.sum(dim=1) - 1
        return hidden.gather(1, places[:, None, None].expand(-1, 1, hidden.shape[-1]))[:, 0]
    real = mask[..., None].to(hidden.dtype)  # (batch, tokens, 1)
    if mode == "max":
        return torch.where(real > 0, hidden, -1e9).amax(dim=1)
    count = real.sum(dim=1)
    return (hidden * real).sum(dim=1) / (count.sqrt() if mode == "mean_sqrt_len_tokens" else count)


def normalized(vectors: Tensor) -> Tensor:
    """Vectors (…, hidden) of length 1. Written as products and sums, which every engine has."""
    return vectors / (vectors * vectors).sum(dim=-1, keepdim=True).sqrt().clamp(min=1e-12)
