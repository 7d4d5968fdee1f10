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
        self.pre_norm, self.causal = self.chance(0.4), self.chance(0.2)
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
        gain, shift = self.tensor(width, spread=0.2, around=1.0), None
        if self.chance(0.7):
            shift = self.tensor(width, spread=0.3)
        centers = True if shift is None and self.chance(0.5) else None
        return p.Norm(gain=gain, shift=shift, centers=centers, epsilon=float(self.draw.choice([1e-12, 1e-5])))

    def layer_norm(self, width: int) -> p.Norm | None:
        """Only networks with norms before blocks leave some out."""
        return None if self.pre_norm and self.chance(0.1) else self.norm(width)

    def _attention(self, width: int) -> p.Attention:
        heads, head_size = self.size(1, 16), self.size(1, 64)
        if self.chance(0.2):
            head_size = int(self.draw.choice([16, 32, 64]))  # heads that fill vectors take other paths
        rotary = self._rotary(head_size + head_size % 2) if self.chance(0.3) else None
        head_size = head_size + head_size % 2 if rotary else head_size
        attended, keys, key_heads = heads * head_size, heads, None
        if self.chance(0.2):
            keys = self.size(1, heads)
            key_heads = sorted([*range(keys), *(int(one) for one in self.draw.integers(0, keys, heads - keys))])
        relative = None
        if self.relative:
            chosen = [int(head) for head in self.draw.integers(0, 16, heads)]
            relative = self.relative.model_copy(update={"heads": chosen})
        return p.Attention(
            heads=heads,
            head_size=head_size,
            relative=relative,
            scale=float(self.draw.uniform(0.1, 0.6)) if self.chance(0.2) else None,
            key_heads=key_heads,
            rotary=rotary,
            window=self._window() if self.chance(0.4) else None,
            query=self.linear(attended, width),
            key=self.linear(keys * head_size, width),
            value=self.linear(keys * head_size, width),
            out=self.linear(width, attended),
        )

    def _rotary(self, head_size: int) -> p.Rotary:
        angles = self.draw.uniform(0.0, 1.0, head_size // 2).astype(np.float32)
        return p.Rotary(frequencies=[float(angle) for angle in angles], neighbours=self.chance(0.5) or None)

    def _window(self) -> p.Window:
        return p.Window(
            tokens=int(self.draw.integers(0, 30)),
            dilation=int(self.draw.choice([1, 1, 2, 5])),
            first_tokens=int(self.draw.choice([0, 1, 3, 20])),
        )

    def _layer(self, width: int) -> p.Layer:
        attention = self._attention(width) if self.chance(0.85) else None
        neurons, ffn = self.size(1, 100), None
        if self.chance(0.75):
            gate = self.linear(neurons, width) if self.chance(0.3) else None
            up, down = self.linear(neurons, width), self.linear(width, neurons)
            ffn = p.Ffn(up=up, activation=self.activation(), down=down, gate=gate)
        experts = self._experts(width) if ffn is None and self.chance(0.7) else None
        left = [
            self.tensor(width, spread=0.3) if gone and self.chance(0.5) else None
            for gone in (not attention, not ffn and not experts)
        ]
        return p.Layer(
            attention=attention,
            attention_bias=left[0],
            attended=self.layer_norm(width),
            ffn=ffn,
            ffn_bias=left[1],
            experts=experts,
            widened=self.layer_norm(width),
        )

    def _experts(self, width: int) -> p.Experts:
        """Rounded rows may go to other experts than in torch, so all experts of such programs are active."""
        count = self.size(1, 9)
        router = s.Floats(weight=self.tensor(count, width))
        shared = self._expert(width) if self.chance(0.4) else None
        return p.Experts(
            router=[p.Matrix(weight=router, bias=self.tensor(count))],
            experts=[self._expert(width) for _ in range(count)],
            active=self.size(1, count) if self.precision == "float" else count,
            averages=self.chance(0.5),
            shared=shared,
            activation=self.activation(),
        )

    def _expert(self, width: int) -> p.Expert:
        neurons = self.size(1, 40)
        return p.Expert(up=self.linear(neurons, width), down=self.linear(width, neurons))

    def activation(self) -> Any:
        return str(self.draw.choice(ACTIVATIONS))

    def _head(self, width: int) -> list[list[p.Matrix]]:
        sizes = [width, *(self.size(1, 80) for _ in range(self.draw.integers(0, 3))), self.size(1, LABELS)]
        return [self.linear(high, low) for low, high in pairwise(sizes)]

    def _outputs(self, linear: list[p.Matrix]) -> int:
        return len(linear[-1].weight.read(self.tensors)[0])

    def _program(self) -> p.Program:
        width, embedded, narrow = self.size(8, 150), self.size(8, 100), self.size(4, 60)
        self.width = width
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
        per_token, head, placed = self.chance(0.4), self._head(width), self.chance(0.8)
        first = first if placed else 0
        answered = len(head) > 1 and self.chance(0.4)
        return p.Program(
            tokens=self.store(VOCABULARY, narrow if widen else embedded, 1.0),
            widen=self.linear(embedded, narrow) if widen else None,
            positions=self.store(self.longest + first, embedded, 0.5) if placed else None,
            longest=None if placed else self.longest,
            first_position=first,
            types=types,
            reads_types=types is not None and self.chance(0.5),
            embedded=self.norm(embedded) if self.chance(0.9) else None,
            project=self.linear(width, embedded) if project else None,
            layers=layers,
            order=[int(one) for one in self.draw.integers(0, len(layers), self.draw.integers(1, 5))],
            pre_norm=self.pre_norm or None,
            last=self.norm(width) if self.pre_norm or self.chance(0.1) else None,
            causal=self.causal or None,
            head=head,
            answered=self.norm(self._outputs(head[-2])) if answered else None,
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
