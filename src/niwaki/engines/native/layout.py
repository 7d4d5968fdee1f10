"""Copies the tensors of a program into the structures that the kernels read."""

import ctypes
from typing import Any

import numpy as np

from niwaki.engines.native import library as c
from niwaki.engines.native import program as p
from niwaki.engines.native.program_parts import Parts


class Layout:
    """Copies the tensors of a program into the layout of the kernels; `pinned` holds the memory that they point to."""

    def __init__(self, kernels: Any, parts: Parts) -> None:
        self.kernels, self.parts = kernels, parts
        self.longest = parts.sizes.longest
        self.pinned: list[object] = []
        self._panels: dict[int, tuple[Any, Any]] = {}
        self._turns: dict[str, int] = {}
        self._distances: dict[str, tuple[int, int]] = {}

    def model(self, program: p.Program) -> Any:
        layers = self.pin(
            (c.Layer * len(program.layers))(*(self.layer(layer, bool(program.causal)) for layer in program.layers))
        )
        head = self.pin((c.Linear * len(program.head))(*(self.linear(linear) for linear in program.head)))
        order = self.pin(np.asarray(program.order, dtype=np.int32))
        return c.Model(
            tokens=self.table(program.tokens, program.token_scale or 1.0),
            positions=self.table(program.positions, skipped=program.skipped_positions or 0),
            types=self.table(program.types),
            widen=self.linear(program.widen),
            embedded=self.norm(program.embedded, self.embedding_size(program)),
            project=self.linear(program.project),
            last=self.norm(program.last),
            answered=self.norm(program.answered),
            first_position=program.first_position,
            width=self.parts.sizes.width,
            depth=len(program.order),
            per_token=program.per_token,
            head_parts=len(program.head),
            head_activation=c.ACTIVATIONS.index(program.head_activation),
            pooling=c.POOLING.index(program.pooling),
            unit_length=program.unit_length,
            pre_norm=bool(program.pre_norm),
            layers=layers,
            order=order.ctypes.data,
            head=head,
        )

    def layer(self, layer: p.Layer, causal: bool) -> c.Layer:
        struct = c.Layer(causal=causal, attended=self.norm(layer.attended), widened=self.norm(layer.widened))
        struct.attention_bias, struct.ffn_bias = self.bias(layer.attention_bias), self.bias(layer.ffn_bias)
        self.set_attention(struct, layer.attention)
        self.set_ffn(struct, layer.ffn)
        if layer.experts is not None:
            self.set_experts(struct, layer.experts)
        return struct

    def set_attention(self, struct: c.Layer, attention: p.Attention | None) -> None:
        if attention is None:
            return
        for part in ("query", "key", "value", "out"):
            setattr(struct, part, self.linear(getattr(attention, part)))
        struct.heads, struct.head_size = attention.heads, attention.head_size
        struct.scale = attention.scale or attention.head_size**-0.5
        window = attention.window or p.Window(tokens=0)
        struct.window = window.tokens if attention.window else -1
        struct.dilation, struct.first_tokens = window.dilation, window.first_tokens
        if attention.key_heads:
            struct.reads = self.address(np.array(attention.key_heads, dtype=np.int32))
        if attention.rotary:
            struct.turns, struct.neighbours = self.turns(attention.rotary), bool(attention.rotary.neighbours)
        if attention.relative is not None:
            struct.reach, struct.relative = self.distances(attention.relative)

    def distances(self, relative: p.Relative) -> tuple[int, int]:
        """The largest distance, and a table of what is added to scores; layers with the same heads share one."""
        key = f"{self.longest} {relative!r}"
        if key not in self._distances:
            found = self.parts.relative(relative)
            further = max(0, self.longest - 1 - found.shape[1] // 2)
            found = np.pad(found, ((0, 0), (further, further)), mode="edge")
            self._distances[key] = found.shape[1] // 2, self.address(np.pad(found, ((0, 0), (0, c.PAD))))
        return self._distances[key]

    def turns(self, rotary: p.Rotary) -> int:
        """A table of cosines and sines of all positions; layers with the same frequencies share one."""
        key = f"{self.longest} {rotary!r}"
        if key not in self._turns:
            frequencies = np.array(rotary.frequencies, dtype=np.float32)
            angles = np.arange(self.longest, dtype=np.float32)[:, None] * frequencies
            self._turns[key] = self.address(np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))
        return self._turns[key]

    def set_ffn(self, struct: c.Layer, ffn: p.Ffn | None) -> None:
        if ffn is not None:
            struct.up, struct.down, struct.gate = self.linear(ffn.up), self.linear(ffn.down), self.linear(ffn.gate)
            struct.activation = c.ACTIVATIONS.index(ffn.activation)

    def set_experts(self, struct: c.Layer, experts: p.Experts) -> None:
        every = [*experts.experts, *([experts.shared] if experts.shared else [])]
        parts = self.pin(
            (c.Expert * len(every))(*(c.Expert(self.linear(one.up), self.linear(one.down)) for one in every))
        )
        found = c.Experts(
            router=self.linear(experts.router),
            count=len(experts.experts),
            active=experts.active,
            mean=experts.averages,
            shared=experts.shared is not None,
            expert=parts,
        )
        struct.activation = c.ACTIVATIONS.index(experts.activation)
        struct.experts = ctypes.pointer(self.pin(found))

    def linear(self, linear: list[p.Matrix] | None) -> c.Linear:
        parts = linear or []
        return c.Linear(len(parts), (c.Matrix * c.MAX_FACTORS)(*(self.matrix(matrix) for matrix in parts)))

    def matrix(self, matrix: p.Matrix) -> c.Matrix:
        weight, scale = self.parts.store(matrix.weight)
        outputs, inputs = weight.shape
        panels, steps, sums = self.panels(weight, scale)
        return c.Matrix(inputs, outputs, int(scale is not None), panels, steps, sums, self.bias(matrix.bias))

    def panels(self, weight: np.ndarray, scale: np.ndarray | None) -> tuple[int, int | None, int | None]:
        """The packed panels of a matrix; one that several layers share is packed once."""
        if id(weight) not in self._panels:
            flat, whole = np.ascontiguousarray(weight), scale is not None
            panels = self.pin(self.packed(flat, whole))
            steps = sums = None
            if scale is not None:
                steps, sums = self.row(scale), self.row(weight.sum(axis=1, dtype=np.int64) * scale.astype(np.float64))
            self._panels[id(weight)] = (weight, (panels.ctypes.data, steps, sums))
        return self._panels[id(weight)][1]

    def packed(self, weight: np.ndarray, whole: bool) -> np.ndarray:
        """A matrix in panels (c/product.h)."""
        panels = c.aligned(self.kernels.panel_bytes(*weight.shape, whole), np.uint8)
        self.kernels.pack(weight.ctypes.data, *weight.shape, whole, panels.ctypes.data)
        return panels

    def bias(self, name: str | None) -> int | None:
        return None if name is None else self.row(self.parts.row(name))

    def embedding_size(self, program: p.Program) -> int:
        store = program.widen[-1].weight if program.widen else program.tokens
        return self.parts.store(store)[0].shape[0 if program.widen else 1]

    def norm(self, norm: p.Norm | None, width: int = 0, factor: float = 1.0) -> c.Norm:
        """Without a norm, only the width is there. What it gives is multiplied by the factor."""
        if norm is None:
            return c.Norm(width=width)
        gain, shift = self.parts.row(norm.gain) * np.float32(factor), None
        if norm.shift is not None:
            shift = self.row(self.parts.row(norm.shift) * np.float32(factor))
        elif norm.centers:
            shift = self.row(np.zeros_like(gain))
        return c.Norm(self.row(gain), shift, norm.epsilon, len(gain))

    def table(self, store: p.Store | None, factor: float = 1.0, skipped: int = 0) -> c.Table:
        """The rows behind the `skipped` ones, times a factor."""
        if store is None:
            return c.Table()
        weight, scale = self.parts.store(store)
        weight, scale = weight[skipped:], None if scale is None else scale[skipped:]
        if factor != 1.0:
            weight, scale = (
                (weight * np.float32(factor), None) if scale is None else (weight, scale * np.float32(factor))
            )
        rows, width = weight.shape
        address = self.address(np.pad(weight, ((0, 0), (0, c.padded(width) - width))))
        return (
            c.Table(rows, width, address, None, None)
            if scale is None
            else c.Table(rows, width, None, address, self.address(scale))
        )

    def row(self, values: np.ndarray) -> int:
        row = self.pin(c.aligned(c.padded(len(values)), np.float32))
        row[: len(values)] = values
        return row.ctypes.data

    def address(self, array: np.ndarray) -> int:
        return self.pin(np.ascontiguousarray(array)).ctypes.data

    def pin(self, value: Any) -> Any:
        """Keeps a value alive for as long as the kernels may read it."""
        self.pinned.append(value)
        return value
