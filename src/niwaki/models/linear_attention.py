"""Attention whose weights are products of features instead of a softmax: pure functions on tensors.

With features φ the weights of query i are φ(qᵢ)·φ(kⱼ) / Σⱼ φ(qᵢ)·φ(kⱼ). The sums over tokens do not depend on the query, so time and memory are linear in
the length of the text.
"""

import torch
from torch import Tensor
from torch.nn import functional


def features(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Hedgehog's map (Zhang et al. 2024): a softmax over projections and their negatives. States (batch, heads, tokens, head size),
    weight (heads, head size, features), bias (heads, 1, features), to (batch, heads, tokens, 2 × features)."""
    projected = states @ weight + bias
    return torch.softmax(torch.cat([projected, -projected], dim=-1), dim=-1)


def linear_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Features of queries and keys (batch, heads, tokens, features), values (batch, heads, tokens, head size), mask (batch, tokens), to
    (batch, tokens, heads × head size)."""
    real = mask[:, None, :, None].to(value.dtype)
    counted = torch.cat([value * real, value[..., :1] * 0 + real], dim=-1)  # the last column sums the weights
    mixed = query @ (key.transpose(-1, -2) @ counted)  # (batch, heads, tokens, head size + 1)
    return (mixed[..., :-1] / mixed[..., -1:]).transpose(1, 2).flatten(2)


def mimicry_loss(query: Tensor, key: Tensor, scores: Tensor, mask: Tensor) -> Tensor:
    """Cross-entropy from softmax attention with these scores (batch, heads, tokens, tokens) to the weights of the features, minus the
    entropy of the former: the mean of a real token and head, 0 where they are equal."""
    hidden = ~mask.bool()[:, None, None]
    wanted = functional.log_softmax(scores.masked_fill(hidden, -1e9), dim=-1)
    products = (query @ key.transpose(-1, -2)).masked_fill(hidden, 0)
    found = torch.log(products / products.sum(dim=-1, keepdim=True) + 1e-9)
    each = torch.where(hidden, 0.0, wanted.exp() * (wanted - found)).sum(dim=-1)  # (batch, heads, tokens)
    real = mask[:, None].to(each.dtype)
    return (each * real).sum() / (real.sum() * query.shape[1])
