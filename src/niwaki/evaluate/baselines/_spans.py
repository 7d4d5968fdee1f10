"""Answer spans: a linear score for each position as start and as end, and the best pair of both."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.baselines._linear import Matrix, stacked
from niwaki.tasks._task import Task, tuned_answer_type

CHUNK = 256  # questions whose features are in memory at a time
OTHERS = 24  # wrong positions sampled for each question
INVERSE_PENALTY = 1.0


class SpanFeatures(Protocol):
    """Positions in the texts of questions, the first of which means no answer, and their features."""

    def rows(self, inputs: Sequence[Input]) -> EncodedInputs: ...

    def transform(self, inputs: Sequence[Input], rows: EncodedInputs, chosen: np.ndarray) -> Matrix:
        """(chosen positions, features); positions are numbered over all sequences, in ascending order."""


class SpanModel:
    """Predicts spans; the threshold for "no answer" is the best one on the validation rows."""

    def __init__(self, task: Task, train: pa.Table, places: SpanFeatures) -> None:
        self.task, self.places = task, places
        samples = [self._sample(train.slice(start, CHUNK), start) for start in range(0, train.num_rows, CHUNK)]
        known = stacked([features for features, _ in samples])
        right = np.concatenate([targets for _, targets in samples])  # (places, 2)
        self.models = [scorer().fit(known, right[:, end]) for end in (0, 1)]
        validation = task.splits()["validation"]
        self.inputs = task.inputs(validation)  # their predictions are kept
        _, parts, scores = zip(*self._scored(self.inputs), strict=True)
        rows, logits = reduce(EncodedInputs.joined, parts), np.concatenate(scores)
        self.answer_type = tuned_answer_type(task, logits, rows, validation)
        self.validation_values = self.answer_type.values(logits, rows, self.inputs, task.labels)

    def __call__(self, inputs: Sequence[Input]) -> list[Value]:
        if inputs == self.inputs:
            return self.validation_values
        parts = (
            self.answer_type.values(logits, rows, some, self.task.labels) for some, rows, logits in self._scored(inputs)
        )
        return [value for part in parts for value in part]

    def _sample(self, table: pa.Table, number: int) -> tuple[Matrix, np.ndarray]:
        """Features of the right positions of some rows and of sampled others, and which of them are starts and ends."""
        inputs = self.task.inputs(table)
        rows = self.places.rows(inputs)
        right = np.asarray(self.task.targets(table, rows)) + rows.ids.starts[:-1, None]  # (sequences, 2)
        generator = numpy_generator(0, "places", number)
        others = rows.ids.starts[:-1, None] + generator.integers(0, rows.ids.lengths[:, None], (len(right), OTHERS))
        chosen = np.unique(np.concatenate([right.ravel(), others.ravel(), rows.ids.starts[:-1]]))
        targets = np.stack([np.isin(chosen, right[:, end]) for end in (0, 1)], axis=1)
        return self.places.transform(inputs, rows, chosen), targets.astype(int)

    def _scored(self, inputs: Sequence[Input]) -> Iterator[tuple[Sequence[Input], EncodedInputs, np.ndarray]]:
        """Chunks of inputs, their sequences, and (positions, 2) scores as start and as end."""
        for start in range(0, len(inputs), CHUNK):
            some = inputs[start : start + CHUNK]
            rows = self.places.rows(some)
            features = self.places.transform(some, rows, np.arange(len(rows.ids.values)))
            yield some, rows, np.stack([model.decision_function(features) for model in self.models], axis=1)


def scorer() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=INVERSE_PENALTY, max_iter=200, random_state=0)
