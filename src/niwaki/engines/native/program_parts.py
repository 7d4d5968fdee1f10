"""A program's parts as arrays, each checked before an address is passed on to the kernels, which check nothing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from niwaki.core.errors import InputError
from niwaki.engines.native.program import (
    MOST_POSITIONS,
    Attention,
    Experts,
    Ffn,
    Layer,
    Matrix,
    Norm,
    Program,
    Relative,
    Rotary,
)
from niwaki.engines.native.stores import MOST_ROWS, MOST_WIDTH, ProgramError, Scaled, Store, Tensors, tensor

MOST_TURNS, MOST_DISTANCES = 1 << 26, 1 << 26  # numbers of a table of angles, and of one of distances


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
        longest = self._longest(program, width)
        types = 0
        if program.types:
            types, wide = self.store(program.types)[0].shape
            same(wide, width, "the width of types")
        self.norm(program.embedded, width, "embedded")
        width = self.linear(program.project, width, "project") if program.project else width
        for number, layer in enumerate(program.layers):
            self._layer(layer, width, longest, f"layer {number}")
            if not program.pre_norm and (layer.attended is None or layer.widened is None):
                raise ProgramError(f"layer {number}: a block without the norm behind it")
        if not all(0 <= number < len(program.layers) for number in program.order):
            raise ProgramError(f"its order names layers that are not there (there are {len(program.layers)})")
        self.norm(program.last, width, "last")
        labels = self._head(program, width)
        return Sizes(width, vocabulary, longest, types if program.reads_types else 0, labels)

    def _longest(self, program: Program, width: int) -> int:
        """The most tokens that a text may have."""
        longest = program.longest or MOST_POSITIONS
        if program.positions is None:
            if program.longest is None or program.first_position or program.skipped_positions:
                raise ProgramError("it has no positions, and states no longest text or which positions to skip")
            return longest
        positions, wide = self.store(program.positions)[0].shape
        same(wide, width, "the width of positions")
        found = min(longest, positions - (program.skipped_positions or 0) - program.first_position)
        if not 1 <= found <= MOST_POSITIONS:
            raise ProgramError(f"{positions} positions from {program.first_position} on leave none for a text")
        return found

    def _head(self, program: Program, width: int) -> int:
        """The number of its labels."""
        if program.per_token and (program.pooling != "cls" or program.unit_length):
            raise ProgramError("its head is for every token, and pools them")
        if program.answered and len(program.head) < 2:
            raise ProgramError("its head has a norm between matrices, and has only one")
        labels = width
        for number, linear in enumerate(program.head):
            if number == len(program.head) - 1:
                self.norm(program.answered, labels, "answered")
            labels = self.linear(linear, labels, f"head {number}")
        return labels

    def _layer(self, layer: Layer, width: int, longest: int, name: str) -> None:
        if layer.attention is not None:
            self.attention(layer.attention, width, longest, name)
        self.ffn(layer.ffn, width, name)
        if layer.experts is not None:
            self._experts(layer, layer.experts, width, name)
        for bias in (layer.attention_bias, layer.ffn_bias):
            self.bias(bias, width, name)
        self.norm(layer.attended, width, f"{name}: attended")
        self.norm(layer.widened, width, f"{name}: widened")

    def _experts(self, layer: Layer, experts: Experts, width: int, name: str) -> None:
        if layer.ffn is not None or experts.active > len(experts.experts):
            raise ProgramError(f"{name}: experts and another block, or more active experts than there are")
        outputs = self.linear(experts.router, width, f"{name}: router")
        same(outputs, len(experts.experts), f"{name}: outputs of the router")
        for expert in (*experts.experts, *([experts.shared] if experts.shared else [])):
            self.ffn(Ffn(up=expert.up, activation=experts.activation, down=expert.down), width, f"{name}: expert")

    def ffn(self, ffn: Ffn | None, width: int, name: str) -> None:
        if ffn is not None:
            ffn_size = self.linear(ffn.up, width, f"{name}: up")
            if ffn.gate is not None:
                same(self.linear(ffn.gate, width, f"{name}: gate"), ffn_size, f"{name}: outputs of gate")
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
    ) -> None:
        """`read` is the width of the rows that it reads, where these are others."""
        attended, read = attention.heads * attention.head_size, read or width
        read_by_heads = self._keys(attention, name) * attention.head_size
        for part, inputs, wanted in (
            ("query", width, attended),
            ("key", read, read_by_heads),
            ("value", read, read_by_heads),
        ):
            outputs = self.linear(getattr(attention, part), inputs, f"{name}: {part}")
            same(outputs, wanted, f"{name}: outputs of {part}")
        same(self.linear(attention.out, attended, f"{name}: out"), width, f"{name}: outputs of out")
        if attention.rotary:
            self._rotary(attention.rotary, attention.head_size, longest, name)
        relative = attention.relative
        if relative is not None:
            same(len(relative.heads), attention.heads, f"{name}: heads of relative")
            if len(relative.rows) % 2 == 0:
                raise ProgramError(f"{name}: {len(relative.rows)} distances are not as many either way")
            if 2 * longest * attention.heads > MOST_DISTANCES:
                raise ProgramError(f"{name}: {longest} positions and {attention.heads} heads are more than any model's")
            self.relative(relative)

    def _keys(self, attention: Attention, name: str) -> int:
        """How many heads have keys and values."""
        if attention.key_heads is None:
            return attention.heads
        keys = max(attention.key_heads) + 1
        same(len(attention.key_heads), attention.heads, f"{name}: heads of key_heads")
        if min(attention.key_heads) < 0 or keys > attention.heads:
            raise ProgramError(f"{name}: key_heads names keys that are not there")
        return keys

    def _rotary(self, rotary: Rotary, head_size: int, longest: int, name: str) -> None:
        same(2 * len(rotary.frequencies), head_size, f"{name}: numbers that are turned")
        if not np.isfinite(np.array(rotary.frequencies, dtype=np.float32)).all():
            raise ProgramError(f"{name}: angles that are not finite")
        if longest * head_size > MOST_TURNS:
            raise ProgramError(f"{name}: {longest} positions of {head_size} angles are more than any model's")

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

    def norm(self, norm: Norm | None, width: int, name: str) -> None:
        if norm is None:
            return
        for part in (norm.gain, *([] if norm.shift is None else [norm.shift])):
            same(len(self.row(part)), width, f"{name}: numbers of the norm")


def same(found: int, wanted: int, what: str) -> None:
    if found != wanted:
        raise ProgramError(f"{what}: {found}, not {wanted}")
