"""What every kind of answer can do. Training and deployment both go through it, so that they cannot differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._beam_search import NO_TOKEN
from niwaki.answers._forced_decoding import LABELS
from niwaki.core.errors import InputError, UsageError
from niwaki.core.json_types import Json
from niwaki.core.settings import Settings
from niwaki.data.column_names import texts as texts_among
from niwaki.data.pixels import Pixels
from niwaki.data.ragged import Ragged, RaggedWriter
from niwaki.data.scratch import GrowingArray, joined
from niwaki.tokenization.tokenizing import encode_batch

CHUNK = 2048  # inputs tokenized at once: enough for all cores, little memory
Input = Any  # a text, a pair of texts, a list of words …: as the kind says
Columns = list[Any]  # names of columns, in the order of an input's parts; a list where several make up one part
Value = Any  # an answer as plain data: a label, a number, a list of tags, a text


@dataclass(frozen=True)
class EncodedInputs:
    """Inputs in a model's tokens, as sequences. An input may need several: windows of a long text, endings to choose from."""

    # the network's inputs by name (`input_ids`, `token_type_ids`, `pixel_values`), a row for each sequence; lengths are those of the first
    arrays: Mapping[str, Ragged | Pixels]
    input_index: np.ndarray  # (sequences,) the number of the input that each belongs to, rising
    metadata: list[Any]  # per sequence, what the kind needs to read its answer; empty where it needs nothing
    group: int = 1  # so many sequences in a row are trained on together

    def __len__(self) -> int:
        """Rows of training: a group of sequences each."""
        return len(self.lengths) // self.group

    @property
    def ids(self) -> Ragged:
        """Of texts."""
        return cast(Ragged, self.arrays["input_ids"])

    @property
    def types(self) -> Ragged:
        return cast(Ragged, self.arrays["token_type_ids"])

    @property
    def lengths(self) -> np.ndarray:
        """(sequences,) tokens that the network reads of each."""
        return next(iter(self.arrays.values())).lengths

    @property
    def inputs(self) -> int:
        return int(self.input_index[-1]) + 1 if len(self.input_index) else 0

    def sequences(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Numbers of the sequences of some rows."""
        return (np.asarray(rows)[:, None] * self.group + np.arange(self.group)).ravel()

    def padded(self, sequences: np.ndarray, pad_id: int) -> dict[str, np.ndarray]:
        """Chosen sequences as rectangles (sequences, longest) by name, with their `attention_mask`. `labels` are generated tokens and
        may have other lengths."""
        fill = {"input_ids": pad_id, LABELS: NO_TOKEN}
        pairs = {name: array.padded(sequences, fill.get(name, 0)) for name, array in self.arrays.items()}
        found = {name: padded for name, (padded, _) in pairs.items()}
        _, mask = next(iter(pairs.values()))
        return {**found, "attention_mask": mask.astype(np.int64)}

    def joined(self, other: "EncodedInputs") -> "EncodedInputs":
        input_index = joined(self.input_index, other.input_index + self.inputs)
        arrays = {name: joined_rows(array, other.arrays[name]) for name, array in self.arrays.items()}
        return EncodedInputs(arrays, input_index, self.metadata + other.metadata, self.group)


def joined_rows(first: Ragged | Pixels, second: Ragged | Pixels) -> Ragged | Pixels:
    """Rows of the same kind, one behind the other."""
    if isinstance(first, Pixels) and isinstance(second, Pixels):
        return first.joined(second)
    if isinstance(first, Ragged) and isinstance(second, Ragged):
        return first.joined(second)
    raise TypeError("rows of images and rows of texts cannot be joined")


class InvalidText(ValueError):
    """A text that an answer type cannot take, with the reason."""


class Answer:
    """Base of the answers that users get."""

    def line(self) -> str:
        """As the command line prints it."""
        return str(self)

    def record(self) -> Json:
        """As a JSON record, which also holds the `id` or `text` of the input."""
        return vars(self)


class AnswerType(Settings):
    """Base of the files in `answers/`. The fields are stored in the model's config as `niwaki_answer`. `_capabilities.py` lists
    optional methods."""

    architecture: ClassVar[str] = "SequenceClassification"  # the transformers head that computes the logits
    problem: ClassVar[str | None] = None  # its `problem_type` in transformers
    per_token: ClassVar[bool] = False  # logits for every token instead of every sequence
    supports_early_exit: ClassVar[bool] = False  # every input is one row of logits, so it can be answered at an exit
    input_description: ClassVar[str] = "a string, or a tuple of two"  # for error messages

    def check(self, given: object) -> Input:
        """A user's input as `encode` takes it. Raises TypeError for a wrong type and ValueError for an empty text."""
        texts = (given,) if isinstance(given, str) else given
        if not isinstance(texts, tuple | list) or not 1 <= len(texts) <= 2:
            raise TypeError
        checked = tuple(check_text(text) for text in texts)
        return checked[0] if len(checked) == 1 else checked

    def from_line(self, line: str) -> Input:
        """An input from a line of text, for the command line. `check` validates it later."""
        return tuple(line.split("\t")) if "\t" in line else line

    def columns(self, names: Sequence[str]) -> list[Columns]:
        """Possible ways to read an input from columns of a table; one if it is clear."""
        return [*texts_among(names)]

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Texts or pairs of texts with special tokens, truncated to `max_tokens` (of a pair, the longer text first)."""
        tokenizer = with_truncation(tokenizer, max_tokens)
        builder = EncodedInputsBuilder()
        for chunk in chunked(inputs):
            builder.add(encode_batch(tokenizer, chunk, fast=True))
        return builder.done()

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        """The answer to each input as plain data. Logits are (sequences, labels), or per token (tokens of all, labels)."""
        raise NotImplementedError

    def answers(self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]) -> list[Any]:
        """The answer to each input with probabilities and details."""
        raise NotImplementedError

    def same_outputs_as(self, other: "AnswerType") -> bool:
        """Whether equal logits of another model of this type and with the same labels mean the same answer."""
        return True

    def same(self, first: Value, second: Value) -> bool:
        """Whether two engines gave the same answer."""
        return first == second

    def to_json(self) -> Json:
        return {"kind": type(self).__module__.rpartition(".")[2], **self.model_dump()}


class Tokens(Protocol):
    """What is taken of a tokenizer's encoding."""

    @property
    def ids(self) -> list[int]: ...

    @property
    def type_ids(self) -> list[int]: ...


class EncodedInputsBuilder:
    """Gathers sequences."""

    def __init__(self, group: int = 1) -> None:
        self.group = group
        self._ids, self._types = RaggedWriter(np.int32), RaggedWriter(np.uint8)
        self._owners = GrowingArray(np.int64)
        self._notes: list[Any] = []
        self._inputs = 0

    def add(
        self, encodings: Sequence[Tokens], input_index: Sequence[int] | None = None, metadata: Sequence[object] = ()
    ) -> None:
        """Sequences of some more inputs; `input_index` counts from the first of these inputs, none says one sequence each."""
        numbers = np.arange(len(encodings)) if input_index is None else np.asarray(input_index, dtype=np.int64)
        self._ids.add(encoding.ids for encoding in encodings)
        self._types.add(encoding.type_ids for encoding in encodings)
        self._owners.add(numbers + self._inputs)
        self._notes += metadata
        self._inputs += int(numbers[-1]) + 1 if len(numbers) else 0

    def add_flat(self, ids: np.ndarray, types: np.ndarray, lengths: np.ndarray) -> None:
        """A sequence for each of some more inputs, one behind the other."""
        self._ids.add_flat(ids, lengths)
        self._types.add_flat(types, lengths)
        self._owners.add(np.arange(self._inputs, self._inputs + len(lengths)))
        self._inputs += len(lengths)

    def done(self) -> EncodedInputs:
        arrays = {"input_ids": self._ids.done(), "token_type_ids": self._types.done()}
        return EncodedInputs(arrays, self._owners.done(), self._notes, self.group)


def chunked(inputs: Iterable[Input]) -> Iterator[list[Input]]:
    """Lists of at most CHUNK inputs; nothing more is held."""
    iterator = iter(inputs)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def with_truncation(tokenizer: Tokenizer, max_tokens: int, **how: Any) -> Tokenizer:
    """A tokenizer that cuts at `max_tokens`; a copy where the one given does not do just that."""
    wanted = {"max_length": max_tokens, "stride": 0, "strategy": "longest_first", "direction": "right", **how}
    if tokenizer.padding is None and tokenizer.truncation == wanted:
        return tokenizer
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.enable_truncation(**wanted)
    return tokenizer


def check_text(text: object) -> str:
    """A text that says something, and that can be written down: half a surrogate pair cannot (UnicodeEncodeError)."""
    if not isinstance(text, str):
        raise TypeError
    if not text.strip():
        raise ValueError
    if not text.isascii():
        text.encode()
    return text


def check_inputs(kind: AnswerType, inputs: Sequence[object]) -> list[Input]:
    """Inputs of a user's, none empty; otherwise one line that says which and why."""
    rows = []
    for number, given in enumerate(inputs):
        try:
            rows.append(kind.check(given))
        except (TypeError, ValueError) as error:
            kind_of_fault = UsageError if isinstance(error, TypeError) else InputError
            raise kind_of_fault(f"texts.{number}: {input_error(error, kind, given)}") from None
    return rows


def input_error(error: TypeError | ValueError, kind: AnswerType, given: object) -> str:
    """What `check` has against an input, in words."""
    if isinstance(error, TypeError):
        return f"must be {kind.input_description} (given: {type(given).__name__})"
    if isinstance(error, UnicodeEncodeError):
        return f"holds half a surrogate pair (U+{ord(error.object[error.start]):04X}), which is no character; write the text anew in UTF-8"
    return (
        str(error) if isinstance(error, InvalidText) else "is empty; leave it out, an answer for it would mean nothing"
    )


def softmax(logits: np.ndarray) -> np.ndarray:
    """Over the last axis, in float64."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    return shifted / shifted.sum(axis=-1, keepdims=True)
