"""A program of the native engine in plain torch, one text at a time, in float64.

Rounding is part of what a quantized network computes, so inputs of 8-bit matrices are rounded here as c/rows.h does (a step and a
zero point for every row, `last_code` + 1 codes). What remains between the two is the order of additions in float32, and now and
then a number that lies between two codes and falls to the other one.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from niwaki.engines.native import program as p
from niwaki.engines.native import stores as s
from niwaki.engines.native.program_parts import Parts

WHOLE_FROM, PAD, LEAST = 64, 16, 1e-30  # of the C headers
ACTIVATIONS = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
    "tanh": torch.tanh,
    "silu": functional.silu,
}


class Reference:
    def __init__(self, program: p.Program, tensors: s.Tensors, last_code: int) -> None:
        self.program, self.tensors, self.last_code = program, tensors, last_code

    def __call__(self, ids: np.ndarray, types: np.ndarray) -> np.ndarray:
        """(1, labels), or (tokens, labels)."""
        program, rows = self.program, self.embed(ids, types)
        for number in program.order:
            rows = self.layer(program.layers[number], rows)
        rows = self.norm(program.last, rows)
        rows = rows if program.per_token else self.pooled(rows)
        for number, linear in enumerate(program.head):
            rows = self.norm(program.answered, rows) if number and number == len(program.head) - 1 else rows
            rows = self.linear(linear, rows)
            rows = ACTIVATIONS[program.head_activation](rows) if number < len(program.head) - 1 else rows
        return rows.numpy()

    def pooled(self, rows: torch.Tensor) -> torch.Tensor:
        """(1, width)."""
        modes = {
            "cls": rows[:1],
            "last": rows[-1:],
            "mean": rows.mean(0, keepdim=True),
            "max": rows.amax(0, keepdim=True),
            "mean_sqrt_len_tokens": rows.sum(0, keepdim=True) / len(rows) ** 0.5,
        }
        found = modes[self.program.pooling]
        return functional.normalize(found) if self.program.unit_length else found

    def embed(self, ids: np.ndarray, types: np.ndarray) -> torch.Tensor:
        program = self.program
        rows = self.matrix(program.tokens)[torch.from_numpy(ids)]
        rows = rows * (program.token_scale or 1.0)
        rows = self.linear(program.widen, rows) if program.widen else rows
        if program.positions:
            rows = rows + self.matrix(program.positions)[(program.skipped_positions or 0) + self.places(ids)]
        if program.types:
            rows = rows + self.matrix(program.types)[torch.from_numpy(types if program.reads_types else types * 0)]
        rows = self.norm(program.embedded, rows)
        return self.linear(program.project, rows) if program.project else rows

    def places(self, ids: np.ndarray) -> torch.Tensor:
        """Where positions begin behind the padding token, this token has its own position and is not counted."""
        first = self.program.first_position
        counted = np.ones(len(ids), bool) if not first else ids != first - 1
        return torch.from_numpy(np.where(counted, first + np.cumsum(counted) - 1, first - 1))

    def layer(self, layer: p.Layer, rows: torch.Tensor) -> torch.Tensor:
        before, behind = (self.norm, kept) if self.program.pre_norm else (kept, self.norm)
        read = before(layer.attended, rows)
        mixed = self.attention(layer.attention, read) if layer.attention else self.row(layer.attention_bias)
        rows = behind(layer.attended, rows + mixed)
        read, inner = before(layer.widened, rows), self.row(layer.ffn_bias)
        inner = self.feed_forward(layer.ffn, read) if layer.ffn else inner
        inner = self.experts(layer.experts, read) if layer.experts else inner
        return behind(layer.widened, rows + inner)

    def feed_forward(self, ffn: p.Ffn, rows: torch.Tensor) -> torch.Tensor:
        inner, activation = self.linear(ffn.up, rows), ACTIVATIONS[ffn.activation]
        return self.linear(ffn.down, inner * activation(self.linear(ffn.gate, rows)) if ffn.gate else activation(inner))

    def experts(self, of: p.Experts, rows: torch.Tensor) -> torch.Tensor:
        """All experts of all rows, weighted; 0 where a row does not go."""
        logits = self.linear(of.router, rows)
        best, chosen = logits.topk(of.active)
        weights = best.softmax(-1) if of.averages else torch.ones_like(best)
        every = torch.stack([self.expert(one, of.activation, rows) for one in of.experts], dim=1)
        found = (torch.zeros_like(logits).scatter(1, chosen, weights)[..., None] * every).sum(1)
        return found if of.shared is None else found + self.expert(of.shared, of.activation, rows)

    def expert(self, of: p.Expert, activation: str, rows: torch.Tensor) -> torch.Tensor:
        return self.linear(of.down, ACTIVATIONS[activation](self.linear(of.up, rows)))

    def attention(self, of: p.Attention, rows: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            self.linear(linear, rows).unflatten(1, (-1, of.head_size)).transpose(0, 1)
            for linear in (of.query, of.key, of.value)
        )  # (heads, tokens, head width)
        if of.rotary:
            query, key = (turned(of.rotary, states) for states in (query, key))
        if of.key_heads:
            key, value = key[of.key_heads], value[of.key_heads]
        whole = isinstance(of.query[-1].weight, s.Int8) and of.head_size % PAD == 0 and len(rows) >= WHOLE_FROM
        place = torch.arange(len(rows))
        scores = torch.zeros(of.heads, len(rows), len(rows)).double()
        if of.relative:
            table = torch.from_numpy(Parts.relative(self, of.relative)).double()  # type: ignore[arg-type]
            scores = table[:, table.shape[1] // 2 + place[None] - place[:, None]]
        states = (self.rounded(query), symmetric(key, -1)) if whole else (query, key)
        scores = scores + states[0] @ states[1].transpose(1, 2) * (of.scale or 1 / math.sqrt(of.head_size))
        seen = seen_by(of.window, len(rows), bool(self.program.causal))
        shares = scores.masked_fill(~seen, -math.inf).softmax(-1)
        mixed = self.weighted_bytes(shares, value, of.window) if whole else shares @ value
        return self.linear(of.out, mixed.transpose(0, 1).reshape(len(rows), -1))

    def weighted_bytes(self, shares: torch.Tensor, value: torch.Tensor, window: p.Window | None) -> torch.Tensor:
        """Next to a window, first tokens are rounded by themselves, and so is each strand of a dilated one."""
        tokens = value.shape[1]
        whole = self.rounded(shares) @ symmetric(value, -2)
        if window is None or (window.dilation == 1 and window.tokens >= tokens - 1):
            return whole
        firsts = min(window.first_tokens, tokens)
        found = self.rounded(shares[..., :firsts]) @ symmetric(value[:, :firsts], -2) if firsts else torch.zeros(())
        near = shares.clone()
        near[..., :firsts] = 0
        strands = []
        for strand in range(min(window.dilation, tokens)):
            own = slice(strand, None, window.dilation)
            strands.append((own, self.rounded(near[:, own, own]) @ symmetric(value[:, own], -2)))
        local = torch.zeros_like(value)
        for own, mixed in strands:
            local[:, own] = mixed
        return torch.cat([whole[:, :firsts], (found + local)[:, firsts:]], dim=1)

    def linear(self, linear: Sequence[p.Matrix], rows: torch.Tensor) -> torch.Tensor:
        for matrix in linear:
            rows = self.rounded(rows) if isinstance(matrix.weight, s.Int8) else rows
            rows = rows @ self.matrix(matrix.weight).T + self.row(matrix.bias)
        return rows

    def norm(self, norm: p.Norm | None, rows: torch.Tensor) -> torch.Tensor:
        if norm is None:
            return rows
        gain, shift = self.row(norm.gain), self.row(norm.shift)
        if norm.shift is None and not norm.centers:
            return functional.rms_norm(rows, gain.shape, gain, norm.epsilon)
        return functional.layer_norm(rows, gain.shape, gain, None, norm.epsilon) + shift

    def rounded(self, rows: torch.Tensor) -> torch.Tensor:
        low, high = rows.amin(-1, keepdim=True).clamp(max=0), rows.amax(-1, keepdim=True).clamp(min=0)
        step = torch.where(high - low <= LEAST, 1.0, (high - low) / self.last_code)
        zero = torch.round(-low / step)
        return step * (torch.round(rows / step + zero).clamp(0, self.last_code) - zero)

    def matrix(self, store: s.Store) -> torch.Tensor:
        weight, scale = store.read(self.tensors)
        found = torch.tensor(np.ascontiguousarray(weight)).double()
        return found if scale is None else found * torch.from_numpy(scale).double()[:, None]

    def row(self, name: str | None) -> torch.Tensor:
        return torch.zeros(()).double() if name is None else torch.from_numpy(self.tensors[name]).double()


def kept(norm: p.Norm | None, rows: torch.Tensor) -> torch.Tensor:
    """In place of a norm that is not there."""
    return rows


def turned(rotary: p.Rotary, states: torch.Tensor) -> torch.Tensor:
    """(heads, tokens, head size), as products of complex numbers."""
    pairs = states.unflatten(-1, (-1, 2)) if rotary.neighbours else states.unflatten(-1, (2, -1)).transpose(-1, -2)
    angles = torch.arange(states.shape[1]).double()[:, None] * torch.tensor(rotary.frequencies).double()
    found = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * torch.polar(torch.ones(()).double(), angles))
    return (found if rotary.neighbours else found.transpose(-1, -2)).flatten(-2)


def seen_by(window: p.Window | None, tokens: int, causal: bool) -> torch.Tensor:
    """Which tokens each one attends to, (tokens, tokens)."""
    place = torch.arange(tokens)
    distance = place[None] - place[:, None]
    seen = torch.ones(tokens, tokens, dtype=torch.bool)
    if window is not None:
        near = (distance.abs() <= window.tokens * window.dilation) & (distance % window.dilation == 0)
        seen = near | (place < window.first_tokens)[None] | (place < window.first_tokens)[:, None]
    return seen & (distance <= 0) if causal else seen


def symmetric(rows: torch.Tensor, axis: int) -> torch.Tensor:
    """Keys and values as bytes."""
    step = rows.abs().amax(axis, keepdim=True).clamp(min=LEAST) / 127
    return torch.round(rows / step) * step
