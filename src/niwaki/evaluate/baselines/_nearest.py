"""Nearest neighbour: the answer of the train row with the most similar text, by TF-IDF."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Input, Value
from niwaki.evaluate.baselines._linear import Features
from niwaki.evaluate.baselines.majority import most_common
from niwaki.tasks._task import Task

AT_ONCE = 64  # texts compared with all train rows at a time


class Nearest:
    """Ties go to the first row; without a known word, the most frequent answer."""

    def __init__(self, task: Task, train: pa.Table, features: Features) -> None:
        self.features, self.gold = features, task.gold(train)
        self.common = most_common(self.gold)
        self.known = features.fit(task.inputs(train))  # (train rows, words), each of length 1

    def __call__(self, inputs: Sequence[Input]) -> list[Value]:
        return [
            value for start in range(0, len(inputs), AT_ONCE) for value in self._near(inputs[start : start + AT_ONCE])
        ]

    def _near(self, inputs: Sequence[Input]) -> list[Value]:
        cosines = (self.features.transform(inputs) @ self.known.T).toarray()  # (inputs, train rows)
        places = cosines.argmax(axis=1)
        found = cosines[np.arange(len(inputs)), places] > 0
        return [self.gold[place] if is_near else self.common for place, is_near in zip(places, found, strict=True)]
