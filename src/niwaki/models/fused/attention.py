"""Attention of packed sequences: without padding, copies or stored dropout masks."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from niwaki.models.fused.library import LANES, Attention, Context, Dropout, draw_dropout, run, scratch, usable


def fits(query: Tensor, head_size: int) -> bool:
    return usable(query) and query.ndim == 2 and len(query) > 0 and head_size % LANES == 0


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: Tensor,
    head_size: int,
    scale: float,
    rate: float,
    causal: bool = False,
) -> Tensor:
    """Mixed values for all queries, or for one query per sequence, over the keys and values of packed sequences; with `causal` over those
    of earlier tokens alone."""
    return _Attention.apply(query, key, value, lengths, head_size, scale, draw_dropout(rate), causal, False)[0]


def attention_and_scores(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: Tensor,
    head_size: int,
    scale: float,
    rate: float,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """The same for all queries, and the scaled scores before softmax in fp32, (heads, tokens, tokens) of one sequence behind those of another."""
    return _Attention.apply(query, key, value, lengths, head_size, scale, draw_dropout(rate), causal, True)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Context,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        lengths: Tensor,
        head_size: int,
        scale: float,
        drop: Dropout,
        causal: bool,
        records: bool,
    ) -> tuple[Tensor, Tensor]:
        counts = lengths if len(query) == len(key) else torch.ones_like(lengths)
        rows = query.shape[1] // head_size * counts
        sizes = torch.stack([counts, lengths, rows * ((lengths + LANES - 1) // LANES * LANES), rows * lengths])
        ends = sizes.cumsum(1)
        starts = ends - sizes  # of queries, tokens, weights and scores of each sequence
        weights, out = query.new_empty(int(ends[2, -1])), query.new_empty(query.shape)
        scores = torch.empty(int(ends[3, -1]) if records else 0)
        tensors = query, key, value, weights, starts, counts, lengths
        ctx.save_for_backward(*tensors)
        ctx.settings = head_size, scale, drop
        _run(tensors, ctx.settings, out=out.data_ptr(), causal=int(causal), scores=scores.data_ptr() if records else 0)
        return out, scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, gradient: Tensor, scores_gradient: Tensor) -> tuple[Tensor | None, ...]:
        query, key = ctx.saved_tensors[:2]
        gradient, scores_gradient = gradient.contiguous(), scores_gradient.contiguous()
        if len(query) == len(key):
            found = query.new_empty(len(query), 3 * query.shape[1]).chunk(3, dim=1)
        else:
            found = (torch.empty_like(query), *key.new_empty(len(key), 2 * key.shape[1]).chunk(2, dim=1))
        names = ("query_gradient", "key_gradient", "value_gradient")
        more = {name: one.data_ptr() for name, one in zip(names, found, strict=True)}
        more |= {f"{name}_stride": one.stride(0) for name, one in zip(names, found, strict=True)}
        if scores_gradient.numel():
            more["scores_gradient"] = scores_gradient.data_ptr()
        _run(ctx.saved_tensors, ctx.settings, gradient=gradient.data_ptr(), **more)
        return *found, *[None] * 6


def _run(tensors: tuple[Tensor, ...], settings: tuple[int, float, Dropout], **more: int) -> None:
    query, key, value, weights, starts, counts, lengths = tensors
    head_size, scale, drop = settings
    threads, tokens = torch.get_num_threads(), int(lengths.max())
    rows, whole = (tokens if len(query) == len(key) else 1), -(-tokens // LANES) * LANES
    floats = (rows + 3 * whole + max(rows, tokens)) * head_size + 2 * rows * whole
    given = Attention(
        len(lengths),
        query.shape[1] // head_size,
        head_size,
        *(one.data_ptr() for one in (starts[0], counts, starts[1], lengths, starts[2])),
        scale,
        drop,
        *(one.data_ptr() for one in (query, key, value)),
        *(one.stride(0) for one in (query, key, value)),
        weights.data_ptr(),
        scratch=scratch("attention", threads * floats, torch.float32).data_ptr(),
        scratch_floats=floats,
        score_places=starts[3].data_ptr(),
        **more,
    )
    run("attention", given)
