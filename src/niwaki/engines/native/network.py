"""A program with its tensors in the layout of the kernels, ready to run."""

import threading
from typing import Any

import numpy as np

from niwaki.core.errors import InputError
from niwaki.engines.native import library as c
from niwaki.engines.native import program as p

MAX_THREADS = 64  # as in encoder.h
THREAD_PRODUCTS = 25_000_000  # multiplications for which another thread pays off: about 100 µs


def products(program: p.Program, parts: p.Parts) -> int:
    """Multiplications for one token in all layers."""
    found = 0
    for number in program.order:
        layer = program.layers[number]
        maps = (
            [layer.attention.query, layer.attention.key, layer.attention.value, layer.attention.out]
            if layer.attention
            else []
        )
        maps += [layer.ffn.up, layer.ffn.down] if layer.ffn else []
        found += sum(parts.store(matrix.weight)[0].size for linear in maps for matrix in linear)
    return found


class KernelUser:
    """Calls kernels. Several threads may do so; each has scratch memory of its own, which is reused."""

    def __init__(self, kernels: str | None = None) -> None:
        name = kernels or c.best()
        found = c.kernels(name) if name else None
        if found is None:
            raise InputError(
                f"native engine: {'kernels ' + repr(name) if name else 'it'} cannot run here: {c.REQUIREMENTS}"
            )
        self.kernels = found
        self._local = threading.local()

    def scratch(self, needed: int) -> np.ndarray:
        """The calling thread's memory for one call, at least `needed` bytes. Kernels must not depend on its content: tests override
        this to fill it with random bytes."""
        found: np.ndarray | None = getattr(self._local, "scratch", None)
        if found is None or len(found) < needed:
            found = self._local.scratch = c.aligned(needed * 5 // 4, np.uint8)
        return found


class Network(KernelUser):
    """Runs batches without padding."""

    def __init__(self, program: p.Program, tensors: p.Tensors, where: str, kernels: str | None = None) -> None:
        super().__init__(kernels)
        self.per_token = program.per_token
        parts = p.Parts(program, tensors, where)
        self.sizes = parts.sizes
        self.products, self.depth = products(program, parts), len(program.order)
        layout = Layout(self.kernels, parts)
        self.lay_out(layout, program)
        self._pinned = layout.pinned

    def lay_out(self, layout: "Layout", program: p.Program) -> None:
        self._model = layout.model(program)

    def __call__(self, ids: np.ndarray, types: np.ndarray, lengths: np.ndarray, threads: int = 1) -> np.ndarray:
        """Tokens of all texts, concatenated, and the lengths of the texts: logits (texts, labels), or (tokens, labels) from a token
        head. Uses at most `threads` threads; their number does not change the logits."""
        return self.run_layers(ids, types, lengths, 0, self.depth, threads)[0]

    def run_layers(
        self, start: np.ndarray, types: np.ndarray, lengths: np.ndarray, first: int, last: int, threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Runs the layers from depth `first` to `last` and the head, from token ids (tokens,) or from hidden states (tokens, padded
        width) of the layer range before. Returns logits and, if layers remain, the hidden states before the last of these layers."""
        begins = start.ndim == 1
        self._check_depths(first, last)
        start = np.ascontiguousarray(start, dtype=np.int32 if begins else np.float32)
        types, lengths = (np.ascontiguousarray(array, dtype=np.int32) for array in (types, lengths))
        self._check_inputs(start, types, lengths, begins)
        width = c.padded(self.sizes.width)
        left = np.empty((len(start) if last < self.depth else 0, width), dtype=np.float32)
        logits = np.empty((len(start) if self.per_token else len(lengths), self.sizes.labels), dtype=np.float32)
        if not len(logits):
            return logits, left
        batch = c.Batch(len(lengths), len(start), first, last, lengths=lengths.ctypes.data)
        if begins:
            batch.ids, batch.kinds = start.ctypes.data, types.ctypes.data if self.sizes.types else None
        else:
            batch.found = start.ctypes.data
        if len(left):
            batch.left = left.ctypes.data
        threads = max(1, min(threads, len(start), MAX_THREADS, len(start) * self.products // THREAD_PRODUCTS))
        scratch = self.scratch(self.kernels.scratch_bytes(self._model, batch, threads))
        self.kernels.forward(self._model, batch, threads, scratch.ctypes.data, logits.ctypes.data)
        return logits, left

    def _check_depths(self, first: int, last: int) -> None:
        if not 0 <= first < last <= self.depth:
            raise InputError(f"the model has {self.depth} layers, so there is no layer range from {first} to {last}")

    def _check_inputs(self, start: np.ndarray, types: np.ndarray, lengths: np.ndarray, begins: bool) -> None:
        """Rejects inputs that would make the kernels read outside of the tensors."""
        if (
            len(start) != len(types)
            or lengths.sum(dtype=np.int64) != len(start)
            or (len(lengths) and lengths.min() < 1)
        ):
            raise ValueError("lengths must be positive and sum to the number of ids")
        if not begins and start.shape[1:] != (c.padded(self.sizes.width),):
            raise ValueError(f"rows must be {c.padded(self.sizes.width)} wide, as a layer range returns them")
        if begins and len(start) and (start.min() < 0 or start.max() >= self.sizes.vocabulary):
            raise InputError(f"a token id is not below the {self.sizes.vocabulary} of the vocabulary")
        if len(start) and lengths.max() > self.sizes.longest:
            raise InputError(f"a text has {lengths.max()} tokens, and the model reads at most {self.sizes.longest}")
        if self.sizes.types and len(types) and (types.min() < 0 or types.max() >= self.sizes.types):
            raise InputError(f"a token type is not below the {self.sizes.types} of the model")


class Layout:
    """Copies the tensors of a program into the layout of the kernels; `pinned` holds the memory that they point to."""

    def __init__(self, kernels: Any, parts: p.Parts) -> None:
        self.kernels, self.parts = kernels, parts
        self.pinned: list[object] = []
        self._panels: dict[int, tuple[Any, Any]] = {}

    def model(self, program: p.Program) -> Any:
        layers = self.pin((c.Layer * len(program.layers))(*(self.layer(layer) for layer in program.layers)))
        head = self.pin((c.Linear * len(program.head))(*(self.linear(linear) for linear in program.head)))
        order = self.pin(np.asarray(program.order, dtype=np.int32))
        return c.Model(
            tokens=self.table(program.tokens, program.token_scale or 1.0),
            positions=self.table(program.positions, skipped=program.skipped_positions or 0),
            types=self.table(program.types),
            widen=self.linear(program.widen),
            embedded=self.norm(program.embedded, self.embedding_size(program)),
            project=self.linear(program.project),
            first_position=program.first_position,
            width=self.parts.sizes.width,
            depth=len(program.order),
            per_token=program.per_token,
            head_parts=len(program.head),
            head_activation=c.ACTIVATIONS.index(program.head_activation),
            pooling=c.POOLING.index(program.pooling),
            unit_length=program.unit_length,
            layers=layers,
            order=order.ctypes.data,
            head=head,
        )

    def layer(self, layer: p.Layer) -> c.Layer:
        struct = c.Layer(attended=self.norm(layer.attended), widened=self.norm(layer.widened))
        struct.attention_bias, struct.ffn_bias = self.bias(layer.attention_bias), self.bias(layer.ffn_bias)
        self.set_attention(struct, layer.attention)
        self.set_ffn(struct, layer.ffn)
        return struct

    def set_attention(self, struct: c.Layer, attention: p.Attention | None) -> None:
        if attention is None:
            return
        for part in ("query", "key", "value", "out"):
            setattr(struct, part, self.linear(getattr(attention, part)))
        struct.heads, struct.head_size = attention.heads, attention.head_size
        if attention.relative is not None:
            found = self.parts.relative(attention.relative)
            struct.reach = found.shape[1] // 2
            struct.relative = self.address(np.pad(found, ((0, 0), (0, c.PAD))))

    def set_ffn(self, struct: c.Layer, ffn: p.Ffn | None) -> None:
        if ffn is not None:
            struct.up, struct.down = self.linear(ffn.up), self.linear(ffn.down)
            struct.activation = c.ACTIVATIONS.index(ffn.activation)

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

    def norm(self, norm: p.Norm | None, width: int = 0) -> c.Norm:
        """Without a norm, only the width is there."""
        if norm is None:
            return c.Norm(width=width)
        gain = self.parts.row(norm.gain)
        return c.Norm(self.row(gain), self.bias(norm.shift), norm.epsilon, len(gain))

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
