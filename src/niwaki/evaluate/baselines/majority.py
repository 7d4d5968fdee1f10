"""Majority class: the most frequent label, the mean of numbers, no entity anywhere."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import Input, Value
from niwaki.answers.roles import SENSE, split
from niwaki.answers.tags import OUTSIDE
from niwaki.evaluate.baseline import Baseline, PredictFunction
from niwaki.evaluate.baselines._unsupported import NO_VECTORS


class Majority(Baseline):
    name = "majority class"
    unsupported: ClassVar[dict[str, str]] = {"embedding": NO_VECTORS}

    def fit(self) -> PredictFunction:
        gold = self.task.gold(self.task.splits()["train"])
        if self.task.answer == "span":
            return lambda inputs: [""] * len(inputs)
        if self.task.answer == "tags":
            common = most_common(tag for tags in gold for tag in tags)
            return lambda inputs: [
                [OUTSIDE if OUTSIDE in self.task.labels else common] * len(words) for words in inputs
            ]
        if self.task.answer == "senses":
            return self._most_common_senses(gold)
        if self.task.answer == "roles":
            sense = most_common(tag for tags in gold for tag in tags if tag.startswith(SENSE))
            return lambda inputs: [no_roles(given, sense) for given in inputs]
        value = constant(self.task.answer, gold)
        return lambda inputs: same(value, inputs)

    def _most_common_senses(self, gold: Sequence[Value]) -> PredictFunction:
        """The most frequent sense of each word in the train rows, or the first of the inventory."""
        from niwaki.tasks._sense_baselines import counted, most_frequent
        from niwaki.tasks.senses import Senses

        self.name = "most frequent sense of each word"
        assert isinstance(self.task, Senses)
        sense_inventory = self.task.inventories.without_vectors
        common = counted(self.task.inputs(self.task.splits()["train"]), gold)
        return lambda inputs: [
            [most_frequent(sense_inventory, common, target) for target in row.targets] for row in inputs
        ]


def constant(answer: str, gold: Sequence[Value]) -> Value:
    if answer == "number":
        return float(np.mean(gold))
    if answer == "labels":  # each label separately
        counts = Counter(name for names in gold for name in names)
        return sorted(name for name, count in counts.items() if 2 * count > len(gold))
    return most_common(gold)


def most_common(values: Iterable[Value]) -> Value:
    """Ties go to the first in sorted order, so that the choice is the same everywhere."""
    return min(Counter(values).items(), key=lambda entry: (-entry[1], entry[0]))[0]


def no_roles(given: Input, sense: str) -> Value:
    """No roles and no predicates, except that a marked predicate has the most frequent sense."""
    words, predicate = split(given)
    return [sense if at == predicate else OUTSIDE for at in range(len(words))]


def same(value: Value, inputs: Sequence[Input]) -> list[Value]:
    return [value] * len(inputs)
