"""The program of the native engine: which tensors of the weights file are which part of an encoder.

It is plain data, saved as `native.json` next to the weights, like the graph for ONNX Runtime. A program may come from an untrusted
source, and the kernels check nothing. So everything is checked against the tensors here, before an address is passed on.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings
from niwaki.engines.native.library import MAX_FACTORS
from niwaki.engines.native.stores import MOST_ROWS, MOST_WIDTH, ProgramError, Scaled, Store, Tensors, tensor

MOST_LAYERS = 512
MOST_POSITIONS = 1 << 16

Activation = Literal["none", "gelu", "gelu_tanh", "relu", "tanh", "silu"]


class Matrix(Settings):
    """(outputs, inputs)."""

    weight: Store
    bias: str | None = None


Linear = Annotated[list[Matrix], Field(min_length=1, max_length=MAX_FACTORS)]  # factors, applied in this order


class Norm(Settings):
    gain: str
    shift: str | None = None  # without one, rows are divided by their root mean square (RMSNorm)
    epsilon: float = Field(gt=0.0, lt=1.0)


class Relative(Settings):
    """Relative position bias: for each distance from query to key, the most negative first, the row of a table (rows, all heads) that is
    added to the attention scores, and which of its heads the layer has."""

    table: str
    rows: Annotated[list[int], Field(min_length=1, max_length=2 * MOST_POSITIONS)]
    heads: Annotated[list[int], Field(min_length=1, max_length=MOST_WIDTH)]


class Attention(Settings):
    heads: int = Field(ge=1, le=MOST_WIDTH)
    head_size: int = Field(ge=1, le=MOST_WIDTH)
    query: Linear
    key: Linear
    value: Linear
    out: Linear
    relative: Relative | None = None


class Ffn(Settings):
    up: Linear
    activation: Activation
    down: Linear


class Layer(Settings):
    """A removed attention or feed-forward block leaves at most a bias."""

    attention: Attention | None = None
    attention_bias: str | None = None
    attended: Norm
    ffn: Ffn | None = None
    ffn_bias: str | None = None
    widened: Norm


class Program(Settings):
    """A post-norm encoder, with a head on the first token, on pooled tokens, or on every token."""

    version: Literal[2] = 2  # version 1 had no digests (program_file.py)
    tokens: Store  # (vocabulary, hidden size)
    widen: Linear | None = None  # from factorized token embeddings to the size of the other embeddings
    # vectors of tokens are multiplied by it; None, also below, is not written, so older versions read programs without these
    token_scale: float | None = Field(None, gt=0.0, le=MOST_WIDTH)
    positions: Store
    skipped_positions: int | None = Field(None, ge=0, le=MOST_POSITIONS)  # rows of that table before the first token's
    first_position: int = Field(ge=0, le=MOST_POSITIONS)
    types: Store | None = None
    reads_types: bool = False  # otherwise every token has the first type
    embedded: Norm | None = None
    project: Linear | None = None  # from the size of the embeddings to that of the layers
    layers: Annotated[list[Layer], Field(min_length=1, max_length=MOST_LAYERS)]
    order: Annotated[list[int], Field(min_length=1, max_length=MOST_LAYERS)]  # which layer runs at each depth
    head: Annotated[list[Linear], Field(min_length=1, max_length=4)]
    head_activation: Activation = "none"  # between the matrices of the head
    per_token: bool = False
    pooling: Literal["cls", "mean", "max", "mean_sqrt_len_tokens"] = "cls"  # what the head reads of each text
    unit_length: bool = False  # whether that is scaled to length 1


class Sizes(NamedTuple):
    """The limits of a call."""

    width: int
    vocabulary: int
    longest: int
    types: int  # 0: not read
    labels: int


class Parts:
    """The parts of a program as arrays, each checked against the part before it. Shared tensors are read once."""

    def __init__(self, program: Program, tensors: Tensors, where: str) -> None:
        self.tensors, self.where = tensors, where
        self._read: dict[str, Scaled] = {}
        try:
            self.sizes = self._program(program)
        except ProgramError as error:
            raise InputError(f"{where}: {error}; save or export the model again") from None

    def store(self, store: Store) -> Scaled:
        """(rows, columns), and scales if the weights are integers."""
        key = repr(store)  # not JSON, which cannot hold half a surrogate pair
        if key not in self._read:
            self._read[key] = store.read(self.tensors)
            weight = self._read[key][0]
            if weight.shape[1] > MOST_WIDTH or len(weight) > MOST_ROWS:
                raise ProgramError(f"a matrix of {weight.shape} is larger than any model's")
        return self._read[key]

    def row(self, name: str) -> np.ndarray:
        """A vector; it may be stored as a matrix of one row."""
        found = self.tensors.get(name)
        is_matrix = found is not None and found.ndim == 2 and len(found) == 1
        return tensor(self.tensors, name, 2 if is_matrix else 1, np.float32).reshape(-1)

    def relative(self, relative: Relative) -> np.ndarray:
        """(heads, distances)."""
        table = tensor(self.tensors, relative.table, 2, np.float32)
        if (
            min(relative.rows) < 0
            or max(relative.rows) >= len(table)
            or min(relative.heads) < 0
            or max(relative.heads) >= table.shape[1]
        ):
            raise ProgramError(f"'{relative.table[:100]}' does not have the rows and heads that the program names")
        return np.ascontiguousarray(table[relative.rows][:, relative.heads].T)

    def _program(self, program: Program) -> Sizes:
        vocabulary, width = self.store(program.tokens)[0].shape
        width = self.linear(program.widen, width, "widen") if program.widen else width
        positions, wide = self.store(program.positions)[0].shape
        same(wide, width, "the width of positions")
        types = 0
        if program.types:
            types, wide = self.store(program.types)[0].shape
            same(wide, width, "the width of types")
        if program.embedded:
            self.norm(program.embedded, width, "embedded")
        width = self.linear(program.project, width, "project") if program.project else width
        longest = positions - (program.skipped_positions or 0) - program.first_position
        if not 1 <= longest <= MOST_POSITIONS:
            raise ProgramError(f"{positions} positions from {program.first_position} on leave none for a text")
        for number, layer in enumerate(program.layers):
            self._layer(layer, width, longest, f"layer {number}")
        if not all(0 <= number < len(program.layers) for number in program.order):
            raise ProgramError(f"its order names layers that are not there (there are {len(program.layers)})")
        if program.per_token and (program.pooling != "cls" or program.unit_length):
            raise ProgramError("its head is for every token, and pools them")
        labels = width
        for number, linear in enumerate(program.head):
            labels = self.linear(linear, labels, f"head {number}")
        return Sizes(width, vocabulary, longest, types if program.reads_types else 0, labels)

    def _layer(self, layer: Layer, width: int, longest: int, name: str) -> None:
        if layer.attention is not None:
            self.attention(layer.attention, width, longest, name)
        self.ffn(layer.ffn, width, name)
        for bias in (layer.attention_bias, layer.ffn_bias):
            self.bias(bias, width, name)
        self.norm(layer.attended, width, f"{name}: attended")
        self.norm(layer.widened, width, f"{name}: widened")

    def ffn(self, ffn: Ffn | None, width: int, name: str) -> None:
        if ffn is not None:
            ffn_size = self.linear(ffn.up, width, f"{name}: up")
            same(self.linear(ffn.down, ffn_size, f"{name}: down"), width, f"{name}: outputs of down")

    def bias(self, bias: str | None, width: int, name: str) -> None:
        if bias is not None:
            same(len(self.row(bias)), width, f"{name}: numbers of a bias")

    def attention(
        self,
        attention: Attention,
        width: int,
        longest: int,
        name: str,
        read: int | None = None,
        keys: int | None = None,
    ) -> None:
        """`read` is the width of the rows that it reads, where these are others, `keys` the number of keys, where heads share them."""
        attended, read = attention.heads * attention.head_size, read or width
        read_by_heads = (keys or attention.heads) * attention.head_size
        for part, inputs, wanted in (
            ("query", width, attended),
            ("key", read, read_by_heads),
            ("value", read, read_by_heads),
        ):
            outputs = self.linear(getattr(attention, part), inputs, f"{name}: {part}")
            same(outputs, wanted, f"{name}: outputs of {part}")
        same(self.linear(attention.out, attended, f"{name}: out"), width, f"{name}: outputs of out")
        relative = attention.relative
        if relative is not None:
            same(len(relative.heads), attention.heads, f"{name}: heads of relative")
            if len(relative.rows) % 2 == 0 or len(relative.rows) < 2 * longest - 1:
                raise ProgramError(
                    f"{name}: {len(relative.rows)} distances are too few, or not as many either way, for {longest} positions"
                )
            self.relative(relative)

    def linear(self, linear: Sequence[Matrix], inputs: int, name: str, most: int = MOST_WIDTH) -> int:
        for matrix in linear:
            outputs, wanted = self.store(matrix.weight)[0].shape
            same(wanted, inputs, f"{name}: inputs")
            if matrix.bias is not None:
                same(len(self.row(matrix.bias)), outputs, f"{name}: numbers of the bias")
            inputs = outputs
        if inputs > most:
            raise ProgramError(f"{name}: {inputs} outputs are more than any model's")
        return inputs

    def norm(self, norm: Norm, width: int, name: str) -> None:
        for part in (norm.gain, *([] if norm.shift is None else [norm.shift])):
            same(len(self.row(part)), width, f"{name}: numbers of the norm")


def same(found: int, wanted: int, what: str) -> None:
    if found != wanted:
        raise ProgramError(f"{what}: {found}, not {wanted}")
