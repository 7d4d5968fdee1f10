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
        rows = rows if program.per_token else self.pooled(rows)
        for number, linear in enumerate(program.head):
            rows = self.linear(linear, rows)
            rows = ACTIVATIONS[program.head_activation](rows) if number < len(program.head) - 1 else rows
        return rows.numpy()

    def pooled(self, rows: torch.Tensor) -> torch.Tensor:
        """(1, width)."""
        modes = {
            "cls": rows[:1],
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
        rows = rows + self.matrix(program.positions)[(program.skipped_positions or 0) + self.places(ids)]
        if program.types:
            rows = rows + self.matrix(program.types)[torch.from_numpy(types if program.reads_types else types * 0)]
        rows = self.norm(program.embedded, rows) if program.embedded else rows
        return self.linear(program.project, rows) if program.project else rows

    def places(self, ids: np.ndarray) -> torch.Tensor:
        """Where positions begin behind the padding token, this token has its own position and is not counted."""
        first = self.program.first_position
        counted = np.ones(len(ids), bool) if not first else ids != first - 1
        return torch.from_numpy(np.where(counted, first + np.cumsum(counted) - 1, first - 1))

    def layer(self, layer: p.Layer, rows: torch.Tensor) -> torch.Tensor:
        mixed = self.attention(layer.attention, rows) if layer.attention else self.row(layer.attention_bias)
        rows = self.norm(layer.attended, rows + mixed)
        if layer.ffn is None:
            return self.norm(layer.widened, rows + self.row(layer.ffn_bias))
        inner = ACTIVATIONS[layer.ffn.activation](self.linear(layer.ffn.up, rows))
        return self.norm(layer.widened, rows + self.linear(layer.ffn.down, inner))

    def attention(self, of: p.Attention, rows: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            self.linear(linear, rows).view(len(rows), of.heads, of.head_size).transpose(0, 1)
            for linear in (of.query, of.key, of.value)
        )  # (heads, tokens, head width)
        whole = isinstance(of.query[-1].weight, s.Int8) and of.head_size % PAD == 0 and len(rows) >= WHOLE_FROM
        if whole:
            query, key, value = self.rounded(query), symmetric(key, -1), symmetric(value, -2)
        scores = query @ key.transpose(1, 2) / math.sqrt(of.head_size)
        if of.relative:
            table = torch.from_numpy(p.Parts.relative(self, of.relative)).double()  # type: ignore[arg-type]
            place = torch.arange(len(rows))
            scores = scores + table[:, table.shape[1] // 2 + place[None] - place[:, None]]
        shares = scores.softmax(-1)
        mixed = (self.rounded(shares) if whole else shares) @ value
        return self.linear(of.out, mixed.transpose(0, 1).reshape(len(rows), -1))

    def linear(self, linear: Sequence[p.Matrix], rows: torch.Tensor) -> torch.Tensor:
        for matrix in linear:
            rows = self.rounded(rows) if isinstance(matrix.weight, s.Int8) else rows
            rows = rows @ self.matrix(matrix.weight).T + self.row(matrix.bias)
        return rows

    def norm(self, norm: p.Norm, rows: torch.Tensor) -> torch.Tensor:
        gain, shift = self.row(norm.gain), self.row(norm.shift)
        return functional.layer_norm(rows, gain.shape, gain, shift, norm.epsilon)

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


def symmetric(rows: torch.Tensor, axis: int) -> torch.Tensor:
    """Keys and values as bytes."""
    step = rows.abs().amax(axis, keepdim=True).clamp(min=LEAST) / 127
    return torch.round(rows / step) * step
