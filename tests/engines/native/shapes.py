"""Random programs for the native engine with their tensors: every shape that pruning, factorizing and quantizing can produce."""

from itertools import pairwise
from typing import Any

import numpy as np

from niwaki.engines.exits import layer_ranges
from niwaki.engines.native import program as p
from niwaki.engines.native import stores as s
from niwaki.engines.native.library import POOLING
from niwaki.engines.native.network import Network

VOCABULARY, LABELS = 40, 7
ACTIVATIONS = ("none", "gelu", "gelu_tanh", "relu", "tanh", "silu")
PRECISIONS = ("float", "int8", "mixed")
TEXTS, LONGEST = 6, 90  # a few texts are long enough that attention uses bytes (WHOLE_FROM of attention.h)

Text = tuple[np.ndarray, np.ndarray]  # ids and types


class Drawn:
    """One program, its tensors, and texts for it, all decided by a seed."""

    def __init__(self, seed: int, precision: str = "") -> None:
        self.draw = np.random.default_rng(seed)
        self.tensors: dict[str, np.ndarray] = {}
        self.precision = precision or PRECISIONS[seed % len(PRECISIONS)]
        self.relative: p.Relative | None = None
        self.longest = self.size(8, LONGEST)
        self.program = self._program()
        self.texts = [self._text() for _ in range(TEXTS)]

    def chance(self, share: float) -> bool:
        return bool(self.draw.random() < share)

    def size(self, low: int, high: int) -> int:
        """Log-uniform, so that narrow parts are as frequent as wide ones and small programs are cheap to run."""
        return int(np.exp(self.draw.uniform(np.log(low), np.log(high + 1))))

    def _text(self) -> Text:
        length = self.longest if self.chance(0.1) else self.size(1, min(self.longest, 40))
        types = self.draw.integers(0, 2, length) if self.program.reads_types else np.zeros(length, dtype=int)
        return self.draw.integers(0, VOCABULARY, length), types

    def tensor(self, *shape: int, spread: float = 1.0, around: float = 0.0) -> str:
        name = f"t{len(self.tensors)}"
        self.tensors[name] = self.draw.normal(around, spread, shape).astype(np.float32)
        return name

    def store(self, rows: int, columns: int, spread: float) -> s.Floats | s.Int8:
        weight = self.tensor(rows, columns, spread=spread)
        if self.precision == "float" or (self.precision == "mixed" and self.chance(0.5)):
            return s.Floats(weight=weight)
        codes, scale = s.rounded(self.tensors.pop(weight))
        transposed = self.chance(0.5)
        self.tensors[weight] = np.ascontiguousarray(codes.T) if transposed else codes
        self.tensors[f"{weight}.scale"] = scale
        return s.Int8(weight=weight, scale=f"{weight}.scale", transposed=transposed)

    def matrix(self, outputs: int, inputs: int) -> p.Matrix:
        bias = self.tensor(outputs, spread=0.3) if self.chance(0.8) else None
        return p.Matrix(weight=self.store(outputs, inputs, 1 / np.sqrt(inputs)), bias=bias)

    def linear(self, outputs: int, inputs: int) -> list[p.Matrix]:
        """One matrix, or the product of several."""
        inner = [self.size(1, 60) for _ in range(self.size(1, 3))] if self.chance(0.25) else []
        sizes = [inputs, *inner, outputs]
        return [self.matrix(high, low) for low, high in pairwise(sizes)]

    def norm(self, width: int) -> p.Norm:
        gain, shift = self.tensor(width, spread=0.2, around=1.0), self.tensor(width, spread=0.3)
        return p.Norm(gain=gain, shift=shift, epsilon=float(self.draw.choice([1e-12, 1e-5])))

    def _attention(self, width: int) -> p.Attention:
        heads, head_size = self.size(1, 16), self.size(1, 64)
        if self.chance(0.2):
            head_size = int(self.draw.choice([16, 32, 64]))  # heads that fill vectors take other paths
        attended = heads * head_size
        relative = None
        if self.relative:
            chosen = [int(head) for head in self.draw.integers(0, 16, heads)]
            relative = self.relative.model_copy(update={"heads": chosen})
        inputs = {part: self.linear(attended, width) for part in ("query", "key", "value")}
        return p.Attention(
            heads=heads, head_size=head_size, relative=relative, **inputs, out=self.linear(width, attended)
        )

    def _layer(self, width: int) -> p.Layer:
        attention = self._attention(width) if self.chance(0.85) else None
        neurons, ffn = self.size(1, 100), None
        if self.chance(0.85):
            ffn = p.Ffn(up=self.linear(neurons, width), activation=self.activation(), down=self.linear(width, neurons))
        left = [
            self.tensor(width, spread=0.3) if gone and self.chance(0.5) else None for gone in (not attention, not ffn)
        ]
        return p.Layer(
            attention=attention,
            attention_bias=left[0],
            attended=self.norm(width),
            ffn=ffn,
            ffn_bias=left[1],
            widened=self.norm(width),
        )

    def activation(self) -> Any:
        return str(self.draw.choice(ACTIVATIONS))

    def _head(self, width: int) -> list[list[p.Matrix]]:
        sizes = [width, *(self.size(1, 80) for _ in range(self.draw.integers(0, 3))), self.size(1, LABELS)]
        return [self.linear(high, low) for low, high in pairwise(sizes)]

    def _program(self) -> p.Program:
        width, embedded, narrow = self.size(8, 150), self.size(8, 100), self.size(4, 60)
        project, widen = self.chance(0.3), self.chance(0.3)
        embedded = embedded if project else width
        first = 2 if self.chance(0.3) else 0
        types = self.store(2, embedded, 0.5) if self.chance(0.6) else None
        if self.chance(0.3):
            self.relative = p.Relative(
                table=self.tensor(9, 16),
                rows=[int(row) for row in self.draw.integers(0, 9, 2 * self.longest - 1)],
                heads=[0],
            )
        layers = [self._layer(width) for _ in range(self.draw.integers(1, 4))]
        per_token = self.chance(0.4)
        return p.Program(
            tokens=self.store(VOCABULARY, narrow if widen else embedded, 1.0),
            widen=self.linear(embedded, narrow) if widen else None,
            positions=self.store(self.longest + first, embedded, 0.5),
            first_position=first,
            types=types,
            reads_types=types is not None and self.chance(0.5),
            embedded=self.norm(embedded),
            project=self.linear(width, embedded) if project else None,
            layers=layers,
            order=[int(one) for one in self.draw.integers(0, len(layers), self.draw.integers(1, 5))],
            head=self._head(width),
            head_activation=self.activation(),
            per_token=per_token,
            pooling="cls" if per_token else str(self.draw.choice(POOLING)),
            unit_length=not per_token and self.chance(0.3),
        )


def chain(network: Network, exits: list[int], texts: list[Text], threads: int) -> list[np.ndarray]:
    """The logits at every exit, and behind the last layer."""
    start, types = (np.concatenate(part) for part in zip(*texts, strict=True))
    lengths, found = np.array([len(one) for one, _ in texts]), []
    for first, last in layer_ranges(exits, network.depth):
        logits, start = network.run_layers(start, types, lengths, first, last, threads)
        found.append(logits)
    return found
