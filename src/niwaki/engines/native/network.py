"""A program with its tensors in the layout of the kernels, ready to run."""

import threading

import numpy as np

from niwaki.core.errors import InputError
from niwaki.engines.native import library as c
from niwaki.engines.native import program as p
from niwaki.engines.native.layout import Layout
from niwaki.engines.native.program_parts import Parts
from niwaki.engines.native.stores import Tensors

MAX_THREADS = 64  # as in encoder.h
THREAD_PRODUCTS = 25_000_000  # multiplications for which another thread pays off: about 100 µs


def products(program: p.Program, parts: Parts) -> int:
    """Multiplications for one token in all layers."""
    found = 0
    for number in program.order:
        layer = program.layers[number]
        maps = (
            [layer.attention.query, layer.attention.key, layer.attention.value, layer.attention.out]
            if layer.attention
            else []
        )
        maps += active_maps(layer.experts) if layer.experts else []
        maps += [layer.ffn.up, layer.ffn.gate or [], layer.ffn.down] if layer.ffn else []
        found += sum(parts.store(matrix.weight)[0].size for linear in maps for matrix in linear)
    return found


def active_maps(experts: p.Experts) -> list[p.Linear]:
    """Of the router and of as many experts as a token goes through."""
    run = [*experts.experts[: experts.active], *([experts.shared] if experts.shared else [])]
    return [experts.router, *(linear for one in run for linear in (one.up, one.down))]


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

    def __init__(self, program: p.Program, tensors: Tensors, where: str, kernels: str | None = None) -> None:
        super().__init__(kernels)
        self.per_token = program.per_token
        parts = Parts(program, tensors, where)
        self.sizes = parts.sizes
        self.products, self.depth = products(program, parts), len(program.order)
        layout = Layout(self.kernels, parts)
        self.lay_out(layout, program)
        self._pinned = layout.pinned

    def lay_out(self, layout: Layout, program: p.Program) -> None:
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
