"""Your own pairs of texts: one is read, the other is to be written."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value
from niwaki.answers.text import Text
from niwaki.core.json_types import Json
from niwaki.data.ragged import Ragged, RaggedWriter
from niwaki.models.criteria import TokenCrossEntropy
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._generation_settings import GenerationSettings
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._tables import as_text, row_slices
from niwaki.tasks._target_vocabulary import TargetVocabulary
from niwaki.tasks._task import Task
from niwaki.tokenization.tokenizing import encode_batch


class Generation(GenerationSettings, Task):
    table: ClassVar[TableFormat] = TableFormat("generation", ("text", "target"))
    answer: ClassVar[str] = "text"
    metric: ClassVar[str] = "exact"
    description: ClassVar[str] = "a text for a text"

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        columns = self.data.columns(table)
        source, target = (columns[role] for role in self.table.roles)
        texts = pa.table({name: as_text(table, name, self.data.source) for name in dict.fromkeys((source, target))})
        self.data.reject_empty(part, texts)
        return pa.table({"text": texts.column(source), "target": texts.column(target)})

    @property
    def answer_settings(self) -> Json:
        """Further settings of the answer type."""
        return {}

    @property
    def labels(self) -> list[str]:
        return ["text"]

    def grammar(self) -> bytes:
        """The file of a grammar that constrains generated texts; empty if there is none."""
        return b""

    def separate_symbols(self, target: str) -> str:
        """A target as it is trained on: with spaces between symbols if words are tokens."""
        return target

    @cached_property
    def vocabulary(self) -> TargetVocabulary:
        return TargetVocabulary(self)

    def set_start_model(self, folder: Path) -> None:
        self.vocabulary.use_model(folder)

    def use_answer_type(self, answer_type: AnswerType) -> None:
        self.__dict__["answer_type"] = answer_type

    def files(self) -> dict[str, bytes]:
        return self.vocabulary.files

    @cached_property
    def answer_type(self) -> Text:
        return self.vocabulary.answer_type()

    def inputs(self, rows: pa.Table) -> list[Input]:
        return rows.column("text").to_pylist()

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("target").to_pylist()

    def with_answers(self, rows: pa.Table, values: Sequence[Value]) -> pa.Table:
        return rows.set_column(rows.column_names.index("target"), "target", pa.array(values, pa.string()))

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> Ragged:
        """Target tokens with the tokenizer's special tokens and the end token, truncated to `max_new_tokens`."""
        kind, builder = self.answer_type, RaggedWriter(np.int32)
        end = [kind.end]
        for part in row_slices(rows):
            encodings = encode_batch(kind.target, [self.separate_symbols(text) for text in self.gold(part)], fast=True)
            ids = (encoding.ids for encoding in encodings)
            builder.add((tokens if tokens[-1:] == end else tokens + end)[: kind.max_new_tokens] for tokens in ids)
        return builder.done()

    @cached_property
    def criterion(self) -> TokenCrossEntropy:
        return TokenCrossEntropy(self.label_smoothing)

    @cached_property
    def scorer(self) -> "TextScorer":
        return TextScorer(self)


class TextScorer(Scorer[Generation]):
    def canonical(self, text: str) -> str:
        """Texts with equal canonical forms are the same answer."""
        return " ".join(self.task.separate_symbols(text).split())

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        pairs = zip(values, self.task.gold(rows), strict=True)
        exact = [[self.canonical(generated) == self.canonical(gold)] for generated, gold in pairs]
        return np.array(exact, dtype=np.int64)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {"exact": float(example_stats[:, 0].mean())}

    def parse_value(self, cell: object) -> Value:
        return str(cell)
