"""Your own pairs of texts: one is read, the other is to be written."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value
from niwaki.answers.text import GRAMMAR, TARGET, Text
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data.ragged import Ragged, RaggedWriter
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import Batch
from niwaki.models.target_tokenizer import TargetTokenizer, load_target_tokenizer
from niwaki.tasks._tables import as_text, row_slices
from niwaki.tasks._task import NO_LABEL, Task
from niwaki.tokenization.tokenizing import encode_batch
from niwaki.tokenization.training import make


class Generation(Task):
    text: str = setting("", "column that holds what is read; none guesses")
    target: str = setting("", "column that holds what is to be written; none guesses")
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting("bpe", "pieces of what is written")
    vocab_size: int = setting(8000, "most pieces of that vocabulary", ge=5, le=400_000)
    max_new_tokens: int = setting(128, "most tokens that are written", ge=1, le=100_000)
    beam: int = setting(4, "hypotheses that are followed side by side", ge=1, le=64)
    length_penalty: float = setting(
        1.0, "power of the length by which scores are divided before texts are compared", ge=0, le=10
    )
    label_smoothing: float = setting(0.1, "share of the truth that all pieces have alike while training", ge=0, lt=1)

    column_layout: ClassVar[str] = "generation"
    answer: ClassVar[str] = "text"
    column_roles: ClassVar[tuple[str, ...]] = ("text", "target")
    metric: ClassVar[str] = "exact"
    description: ClassVar[str] = "a text for a text"

    _pieces: TargetTokenizer | None = None  # those of a model that writes already

    def set_start_model(self, folder: Path) -> None:
        self._pieces = load_target_tokenizer(folder)
        if self._pieces is None:
            return
        if self.grammar():
            raise InputError(
                f"task '{self.name}': its grammar is one of pieces that it makes itself, and {folder} writes its own; start from an encoder, with {{ use = 'writer' }}"
            )
        most = self._pieces.longest
        if most is not None and self.max_new_tokens > most:
            raise InputError(
                f"data.max_new_tokens: {self.max_new_tokens} is more than the {most} tokens that {folder} can write"
            )

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        columns = self.columns(table)
        source, target = (columns[role] for role in self.column_roles)
        texts = pa.table({name: as_text(table, name, self.source()) for name in dict.fromkeys((source, target))})
        self.reject_empty(part, texts)
        return pa.table({"text": texts.column(source), "target": texts.column(target)})

    @property
    def labels(self) -> list[str]:
        return ["text"]

    def grammar(self) -> bytes:
        """The file of a grammar that all that is written must keep; empty where there is none."""
        return b""

    def separate_symbols(self, target: str) -> str:
        """A target as it is learnt, with spaces where words are pieces."""
        return target

    def canonical(self, text: str) -> str:
        """Texts that are equal in this are the same answer."""
        return " ".join(self.separate_symbols(text).split())

    @cached_property
    def _files(self) -> dict[str, bytes]:
        if self._pieces is not None:
            return {TARGET: self._pieces.target}
        train = self.splits()["train"]
        target = make(self._all_of(train), self.split, self.vocab_size).encode()
        grammar = self.grammar()
        return {TARGET: target, **({GRAMMAR: grammar} if grammar else {})}

    def _all_of(self, rows: pa.Table) -> Iterator[str]:
        for part in row_slices(rows):
            yield from self.inputs(part)
            yield from map(self.separate_symbols, self.gold(part))

    def files(self) -> dict[str, bytes]:
        return self._files

    @cached_property
    def answer_type(self) -> Text:
        special_tokens = self._pieces.special_tokens if self._pieces is not None else {}
        said = Text(
            beam=self.beam,
            length_penalty=self.length_penalty,
            max_new_tokens=self.max_new_tokens,
            grammar=GRAMMAR in self._files,
            **special_tokens,
        )
        return said.with_files(self._files)

    def use_answer_type(self, answer_type: AnswerType) -> None:
        self.__dict__["answer_type"] = answer_type

    def inputs(self, rows: pa.Table) -> list[Input]:
        return rows.column("text").to_pylist()

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("target").to_pylist()

    def with_answers(self, rows: pa.Table, values: Sequence[Value]) -> pa.Table:
        return rows.set_column(rows.column_names.index("target"), "target", pa.array(values, pa.string()))

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> Ragged:
        """The tokens of what is to be written, with the marks that its tokenizer puts around them, and its end; cut after
        `longest`."""
        writer, end = RaggedWriter(np.int32), [self.answer_type.end]
        for part in row_slices(rows):
            found = encode_batch(
                self.answer_type.target, [self.separate_symbols(text) for text in self.gold(part)], fast=True
            )
            writer.add(
                (one.ids if one.ids[-1:] == end else one.ids + end)[: self.answer_type.max_new_tokens] for one in found
            )
        return writer.done()

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        summed = functional.cross_entropy(
            logits.flatten(0, 1),
            batch.targets.flatten(),
            ignore_index=NO_LABEL,
            reduction="sum",
            label_smoothing=self.label_smoothing,
        )
        return summed / torch.clamp((batch.targets != NO_LABEL).sum(), min=1)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        return soft_cross_entropy(student, teacher, temperature, (batch.targets != NO_LABEL).float())

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        pairs = zip(values, self.gold(rows), strict=True)
        return np.array([[self.canonical(said) == self.canonical(gold)] for said, gold in pairs], dtype=np.int64)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {"exact": float(example_stats[:, 0].mean())}

    def parse_value(self, text: Any) -> Value:
        return str(text)
