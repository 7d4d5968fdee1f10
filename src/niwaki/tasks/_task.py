"""A task: rows, the answer that each asks for, a training criterion, and a scorer.

rows      data (TaskData): read, normalized to the task's own columns, split
inputs    texts or words for the answer type, which encodes them and decodes logits
targets   what the criterion compares logits with
scores    the scorer turns answers into metrics
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value
from niwaki.data.image_bytes import EncodedImage
from niwaki.data.ragged import Ragged
from niwaki.models.criteria import Criterion
from niwaki.models.features import Features
from niwaki.models.head import Head
from niwaki.tasks._capabilities import BringsFiles, TunesAnswerType
from niwaki.tasks._data import TaskData
from niwaki.tasks._data_settings import DataSettings
from niwaki.tasks._declarations import Published, TableFormat
from niwaki.tasks._tables import row_slices

if TYPE_CHECKING:
    from niwaki.tasks._scorer import Scorer


class Task(DataSettings):
    """Base of the files in `tasks/`. The fields are the settings under `[data]`. `_capabilities.py` lists optional methods."""

    answer: ClassVar[str]  # the answer type, a file in `niwaki/answers`
    metric: ClassVar[str]  # the primary metric; higher is better
    table: ClassVar[TableFormat]
    published: ClassVar[Published] = Published()
    description: ClassVar[str] = ""

    @property
    def name(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    @cached_property
    def data(self) -> TaskData:
        return TaskData(self)

    def splits(self) -> dict[str, pa.Table]:
        """`train`, `validation`, `test` and further test sets, each with the columns of the task."""
        return self.data.splits

    def read_parts(self) -> dict[str, pa.Table]:
        """Tables by part before splitting; rows that are not divided yet are the part `all`."""
        return self.data.read_files()

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """The task's own columns, with the right types and without empty cells. The column `text` decides the split of a row."""
        raise NotImplementedError

    @property
    def labels(self) -> list[str]:
        """Names of the outputs of the head."""
        raise NotImplementedError

    @cached_property
    def answer_type(self) -> AnswerType:
        return ANSWERS.load(self.answer, AnswerType)()

    @cached_property
    def head(self) -> Head:
        """The head that a model needs for this task."""
        answer_type = self.answer_type
        files = self.files if isinstance(self, BringsFiles) else dict
        return Head(self.labels, answer_type.architecture, answer_type.to_json(), answer_type.problem, files)

    def inputs(self, rows: pa.Table) -> list[Input]:
        """Inputs for the answer type."""
        raise NotImplementedError

    def gold(self, rows: pa.Table) -> list[Value]:
        """Correct answers as plain data."""
        raise NotImplementedError

    def texts(self, rows: pa.Table) -> Iterator[str]:
        """All texts of the rows, for vocabularies."""
        for part in row_slices(rows):
            for given in self.inputs(part):
                yield from texts_in(given)

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        inputs = (given for part in row_slices(rows) for given in self.inputs(part))
        encoded = self.answer_type.encode(inputs, tokenizer, min(self.max_tokens, max_tokens or self.max_tokens))
        return Features(encoded, self.targets(rows, encoded))

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray | Ragged:
        """What the criterion compares logits with, (rows, …) or ragged like the tokens."""
        raise NotImplementedError

    @cached_property
    def criterion(self) -> Criterion:
        raise NotImplementedError

    @cached_property
    def scorer(self) -> "Scorer":
        raise NotImplementedError


def tuned_answer_type(task: Task, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> AnswerType:
    """The answer type with the settings that are best on these validation rows."""
    return task.tuned(logits, rows, table) if isinstance(task, TunesAnswerType) else task.answer_type


def texts_in(given: Input) -> Iterator[str]:
    """Every text of an input, however it is nested. An image has none."""
    if isinstance(given, str):
        yield given
    elif not isinstance(given, EncodedImage):
        for part in given:
            yield from texts_in(part)
