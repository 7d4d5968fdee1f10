"""Your own sentences as words, each word with a tag."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import Input, Value
from niwaki.answers.tags import OUTSIDE
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.tasks._entity_scores import counts, f1_of, precision_of, recall_of
from niwaki.tasks._word_task import WordTask

MARKS = "BIESLU"  # first letters of tags that mark stretches; parts of speech have single letters too (X, a full stop)


class Tagging(WordTask):
    tokens: str = setting("", "column that holds the words of a sentence, as a list; none guesses")
    tags: str = setting("", "column that holds their tags, as a list; none guesses")

    column_roles: ClassVar[tuple[str, ...]] = ("tokens", "tags")
    column_layout: ClassVar[str] = "tagging"
    answer: ClassVar[str] = "tags"
    metric: ClassVar[str] = "f1_entities"
    description: ClassVar[str] = "a tag for every word of a sentence"

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        columns = self.columns(table)
        tokens, tags = (self.lists(table, columns[role]) for role in ("tokens", "tags"))
        self.reject_empty(part, pa.table({columns["tags"]: compute.list_flatten(tags)}))
        if compute.list_flatten(tokens).null_count:
            raise InputError(
                f"{self.source()}: words are missing in column '{columns['tokens']}'; fill them or drop their rows"
            )
        lengths, others = (compute.fill_null(compute.list_value_length(lists), 0) for lists in (tokens, tags))
        unlike = compute.sum(compute.not_equal(lengths, others)).as_py()
        if unlike:
            raise InputError(
                f"{self.source()}: {unlike} of the {part} rows have not as many tags as words; mend or drop them"
            )
        kept = compute.greater(lengths, 0)
        table = pa.table({"text": compute.binary_join(tokens, " "), "tokens": tokens, "tags": tags})
        return table.filter(kept)

    @cached_property
    def labels(self) -> list[str]:
        found = set(compute.unique(compute.list_flatten(self.splits()["train"].column("tags"))).to_pylist())
        return sorted(found, key=lambda tag: (tag != OUTSIDE, tag))

    def inputs(self, rows: pa.Table) -> list[Input]:
        return rows.column("tokens").to_pylist()

    @cached_property
    def _in_stretches(self) -> bool:
        """Whether tags mark stretches of words (B-PER, I-PER); parts of speech do not, there every word counts by itself."""
        inside = [tag for tag in self.labels if tag != OUTSIDE]
        return any(tag[0] in MARKS and tag[1:2] == "-" for tag in inside) or set(inside) <= set(MARKS)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Hits, said and gold entities; right words and words."""
        return np.array([self._outcome(said, gold) for said, gold in zip(values, self.gold(rows), strict=True)])

    def _outcome(self, said: list[str], gold: list[str]) -> tuple[int, ...]:
        right = sum(a == b for a, b in zip(said, gold, strict=True))
        found = counts(said, gold) if self._in_stretches else (right, len(gold), len(gold))
        return (*found, right, len(gold))

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        hits, said, gold, right, words = example_stats.sum(axis=0)
        entities = {"f1_entities": f1_of, "precision": precision_of, "recall": recall_of}
        return {
            **{name: of(hits, said, gold) for name, of in entities.items()},
            "accuracy": float(right / max(1, words)),
        }

    def parse_value(self, text: Any) -> Value:
        return text.split() if isinstance(text, str) else list(text)
