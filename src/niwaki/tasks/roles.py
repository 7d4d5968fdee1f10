"""Your own sentences as words, with predicates, the roleset of each, and its arguments."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import Input, Value
from niwaki.answers.roles import IS_PREDICATE, number_of, rolesets_of
from niwaki.answers.roles import Roles as RolesAnswer
from niwaki.answers.tags import OUTSIDE
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._entity_scores import f1_of, precision_of, recall_of
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._srl_scores import counts
from niwaki.tasks._srl_sentences import NONE, Sentence, rows_of
from niwaki.tasks._tables import row_slices
from niwaki.tasks._word_task import WordTask
from niwaki.tasks.tagging import words_in

SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "tokens": pa.list_(pa.string()),
        "predicate": pa.int32(),
        "roleset": pa.string(),
        "tags": pa.list_(pa.string()),
        "untold": pa.int32(),
        "heads": pa.list_(pa.int32()),
    }
)


class Roles(WordTask):
    tokens: str = setting("", "column that holds the words of a sentence, as a list; none guesses")
    predicates: str = setting(
        "", "column that holds the numbers of its predicates' words, from 0, as a list; none guesses"
    )
    rolesets: str = setting("", "column that holds the roleset of each predicate (sit.01), as a list; none guesses")
    args: str = setting(
        "",
        "column that holds the arguments: a list of predicate (its place in the list), label, start, end; none guesses",
    )

    table: ClassVar[TableFormat] = TableFormat(
        "roles", ("tokens", "predicates", "rolesets", "args"), optional=("head",)
    )
    answer: ClassVar[str] = "roles"
    metric: ClassVar[str] = "f1_roles"
    description: ClassVar[str] = "predicates of a sentence, their senses and their arguments"

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """A row for each sentence, which asks for its predicates, and one for each predicate, which asks for its roles."""
        columns = self.data.columns(table)
        self.lists(table, columns["tokens"])
        batches = [self._rows(part, some, columns, start) for start, some in _numbered(table)]
        found = pa.Table.from_batches(batches, SCHEMA)
        if not found.num_rows:
            raise InputError(f"{self.data.source}: the {part} rows hold no words")
        return found

    def _rows(self, part: str, table: pa.Table, columns: Json, start: int) -> pa.RecordBatch:
        heads = table.column("head").to_pylist() if "head" in table.column_names else [()] * table.num_rows
        given = zip(*(table.column(columns[role]).to_pylist() for role in self.table.roles), heads, strict=True)
        rows: list[Json] = []
        for number, cells in enumerate(given, start):
            sentence = Sentence.of(*cells)
            fault = sentence.fault()
            if fault:
                raise InputError(f"{self.data.source}: row {number} of {part}: {fault}")
            rows += rows_of(sentence) if sentence.tokens else []
        return pa.RecordBatch.from_pylist(rows, SCHEMA)

    @cached_property
    def labels(self) -> list[str]:
        found = set(compute.unique(compute.list_flatten(self.splits()["train"].column("tags"))).to_pylist())
        if IS_PREDICATE not in found:
            raise InputError(f"{self.data.source}: the train rows have no predicate; give sentences that have some")
        return sorted(found | {OUTSIDE}, key=lambda tag: (tag != OUTSIDE, tag != IS_PREDICATE, tag))

    @cached_property
    def answer_type(self) -> RolesAnswer:
        """Knows the rolesets that words have in the train rows."""
        train = self.splits()["train"].select(["tokens", "predicate", "roleset"])
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for part in row_slices(train.filter(compute.greater_equal(train.column("predicate"), 0))):
            for row in part.to_pylist():
                seen[row["tokens"][row["predicate"]].lower()][row["roleset"]] += 1
        lines = (
            f"{word} {' '.join(_commonest(found))}"
            for word, found in sorted(seen.items())
            if not set(word) & set(" \n")
        )
        return RolesAnswer(rolesets="\n".join(lines))

    def inputs(self, rows: pa.Table) -> list[Input]:
        both = zip(rows.column("tokens").to_pylist(), rows.column("predicate").to_pylist(), strict=True)
        return [words if predicate == NONE else (words, predicate) for words, predicate in both]

    def texts(self, rows: pa.Table) -> Iterator[str]:
        for part in row_slices(rows.select(["tokens"])):
            for words in part.column("tokens").to_pylist():
                yield from words

    @cached_property
    def scorer(self) -> "RolesScorer":
        return RolesScorer(self)


class RolesScorer(Scorer[Roles]):
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Correct, predicted and gold arguments; the same of predicates; correct senses and senses; the same of first senses."""
        columns = (rows.column(name).to_pylist() for name in ("predicate", "untold", "heads"))
        counted = [_counts(*example) for example in zip(values, self.task.gold(rows), *columns, strict=True)]
        stats = np.array(counted, dtype=np.int64).reshape(-1, 8)
        return np.hstack([stats, stats[:, 6:] * self.has_first_sense(rows)[:, None]])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        summed = example_stats.sum(axis=0)
        arguments, predicates, senses, first = summed[:3], summed[3:6], summed[6:8], summed[8:]
        groups = {"senses": senses, "first_sense": first, "other_senses": senses - first}
        return {
            "f1_roles": f1_of(*arguments),
            "precision": precision_of(*arguments),
            "recall": recall_of(*arguments),
            "f1_predicates": f1_of(*predicates),
            **{f"accuracy_{name}": float(right / max(1, count)) for name, (right, count) in groups.items()},
        }

    def has_first_sense(self, rows: pa.Table) -> np.ndarray:
        """(rows,) whether the roleset of the predicate has the number that is most frequent for its word in the train rows, or the most
        frequent of all for an unknown word. Always answering that number scores 1 on these rows, and 0 on the others."""
        numbers, of_all = self._frequent_numbers
        found = rows.select(["tokens", "predicate", "roleset"]).to_pylist()
        return np.array(
            [
                number_of(row["roleset"]) == numbers.get(row["tokens"][row["predicate"]].lower(), of_all)
                for row in found
            ],
            dtype=bool,
        )

    @cached_property
    def _frequent_numbers(self) -> tuple[dict[str, str], str]:
        """The most frequent number of each word of the train rows, and of all."""
        known = rolesets_of(self.task.answer_type.rolesets)
        rolesets = compute.value_counts(self.task.splits()["train"].column("roleset")).to_pylist()
        counted = Counter[str]()
        for one in rolesets:
            counted[number_of(one["values"])] += one["counts"] if one["values"] else 0
        return {word: number_of(names[0]) for word, names in known.items()}, _commonest(counted)[0]

    def note(self) -> str:
        """The sizes of the two groups, which the scores do not tell."""
        counts = []
        for part in self.task.data.tests:
            rows = self.task.splits()[part]
            rows = rows.filter(compute.greater_equal(rows.column("predicate"), 0))
            first = int(self.has_first_sense(rows).sum())
            counts.append(f"{part} {first:,} and {rows.num_rows - first:,}")
        return (
            f"Predicates with their word's most frequent sense in the training rows, and others: {', '.join(counts)}."
        )

    def parse_value(self, cell: object) -> Value:
        return words_in(cell)


def _counts(predicted: list[str], gold: list[str], predicate: int, untold: int, heads: list[int]) -> tuple[int, ...]:
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} tags for {len(gold)} words")
    if predicate == NONE:
        found, true = ({at for at, tag in enumerate(tags) if tag == IS_PREDICATE} for tags in (predicted, gold))
        return 0, 0, 0, len(found & true), len(found), len(true), 0, 0
    correct, claimed, there = counts(predicted, gold, heads)
    return correct, claimed, there + untold, 0, 0, 0, int(predicted[predicate] == gold[predicate]), 1


def _numbered(table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Slices of a table, each with the number of its first row, from 1."""
    number = 1
    for part in row_slices(table):
        yield number, part
        number += part.num_rows


def _commonest(counted: Counter[str]) -> list[str]:
    return sorted(counted, key=lambda name: (-counted[name], name))
