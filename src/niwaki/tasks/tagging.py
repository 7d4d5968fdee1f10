"""Your own sentences as words, each word with a tag."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import Input, Value
from niwaki.answers.tags import OUTSIDE
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._entity_scores import counts, f1_of, precision_of, recall_of
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._word_task import WordTask

SPAN_PREFIXES = "BIESLU"  # part-of-speech tags have single letters too (X, a full stop)


class Tagging(WordTask):
    tokens: str = setting("", "column that holds the words of a sentence, as a list; none guesses")
    tags: str = setting("", "column that holds their tags, as a list; none guesses")

    table: ClassVar[TableFormat] = TableFormat("tagging", ("tokens", "tags"))
    answer: ClassVar[str] = "tags"
    metric: ClassVar[str] = "f1_entities"
    description: ClassVar[str] = "a tag for every word of a sentence"

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        columns, source = self.data.columns(table), self.data.source
        tokens, tags = (self.lists(table, columns[role]) for role in self.table.roles)
        self.data.reject_empty(part, pa.table({columns["tags"]: compute.list_flatten(tags)}))
        if compute.list_flatten(tokens).null_count:
            raise InputError(
                f"{source}: words are missing in column '{columns['tokens']}'; fill them or drop their rows"
            )
        words, tagged = (compute.fill_null(compute.list_value_length(lists), 0) for lists in (tokens, tags))
        different = compute.sum(compute.not_equal(words, tagged)).as_py()
        if different:
            raise InputError(
                f"{source}: {different} of the {part} rows have not as many tags as words; fix or drop them"
            )
        found = pa.table({"text": compute.binary_join(tokens, " "), "tokens": tokens, "tags": tags})
        return found.filter(compute.greater(words, 0))

    @cached_property
    def labels(self) -> list[str]:
        found = set(compute.unique(compute.list_flatten(self.splits()["train"].column("tags"))).to_pylist())
        return sorted(found, key=lambda tag: (tag != OUTSIDE, tag))

    def inputs(self, rows: pa.Table) -> list[Input]:
        return rows.column("tokens").to_pylist()

    @cached_property
    def scorer(self) -> "TaggingScorer":
        return TaggingScorer(self)


class TaggingScorer(Scorer[Tagging]):
    @cached_property
    def has_span_prefixes(self) -> bool:
        """Whether tags mark spans of words (B-PER, I-PER). For other tags, such as parts of speech, every word counts alone."""
        inside = [tag for tag in self.task.labels if tag != OUTSIDE]
        prefixed = any(tag[0] in SPAN_PREFIXES and tag[1:2] == "-" for tag in inside)
        return prefixed or set(inside) <= set(SPAN_PREFIXES)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Correct, predicted and gold entities; correct words and words."""
        pairs = zip(values, self.task.gold(rows), strict=True)
        return np.array([self._counts(predicted, gold) for predicted, gold in pairs])

    def _counts(self, predicted: list[str], gold: list[str]) -> tuple[int, ...]:
        right = sum(a == b for a, b in zip(predicted, gold, strict=True))
        entities = counts(predicted, gold) if self.has_span_prefixes else (right, len(gold), len(gold))
        return (*entities, right, len(gold))

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        correct, predicted, gold, right, words = example_stats.sum(axis=0)
        entities = {"f1_entities": f1_of, "precision": precision_of, "recall": recall_of}
        return {
            **{name: measure(correct, predicted, gold) for name, measure in entities.items()},
            "accuracy": float(right / max(1, words)),
        }

    def parse_value(self, cell: object) -> Value:
        return words_in(cell)


def words_in(cell: object) -> list[str]:
    """Tags from a cell of a predictions file: a list, or a text with spaces between them."""
    if isinstance(cell, str):
        return cell.split()
    if not isinstance(cell, Iterable):
        raise TypeError(f"{type(cell).__name__} is not a list of tags")
    return list(cell)
