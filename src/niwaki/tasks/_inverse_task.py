"""Base of inverse problems: rows are generated from a seed, candidates are verified, and what counts is whether one is right."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Value
from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.core.settings import setting
from niwaki.data.problems._problem import Problem, Question, pairs, problem_of, text_of
from niwaki.data.spill import gather
from niwaki.tasks._declarations import Published
from niwaki.tasks.generation import Generation, TextScorer

BATCH = 4096


class InverseTask(Generation):
    pairs: int = setting(100_000, "training pairs that are generated", ge=100)
    evaluation_pairs: int = setting(500, "pairs for validation, and as many for the test", ge=20, le=100_000)
    draw: int = setting(0, "seed of the pairs", ge=0)
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting("words", "tokens of generated texts")
    beam: int = setting(10, "candidates that are followed side by side and verified", ge=1, le=64)
    label_smoothing: float = setting(
        0.0, "label smoothing: share of the target probability that is spread over all tokens", ge=0, lt=1
    )

    answer: ClassVar[str] = "verified"
    metric: ClassVar[str] = "verified"
    published: ClassVar[Published] = Published(embedded=True)
    question_columns: ClassVar[dict[str, pa.DataType]] = {"text": pa.string()}

    def question_cells(self, question: Question) -> tuple[str | bytes, ...]:
        """A cell for each of `question_columns`."""
        return (text_of(question),)

    @property
    def problem(self) -> Problem:
        return problem_of(self.name)

    @property
    def answer_settings(self) -> Json:
        return {"verifier": self.name}

    def read_parts(self) -> dict[str, pa.Table]:
        counts = {"train": self.pairs, "validation": self.evaluation_pairs, "test": self.evaluation_pairs}
        columns = {"part": pa.string(), **self.question_columns, "target": pa.string()}
        schema = pa.schema([*columns.items()])
        rows = gather(self._batches(counts, schema), schema)
        parts = rows.column("part")
        return {part: rows.filter(pa.compute.equal(parts, part)).drop_columns(["part"]) for part in counts}

    def _batches(self, counts: Mapping[str, int], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        held: list[tuple[str | bytes, ...]] = []
        done = 0
        with progress(f"{self.name}: pairs", sum(counts.values())) as update:
            for part, question, answer in pairs(self.problem, self.draw, counts):
                held.append((part, *self.question_cells(question), answer))
                if len(held) == BATCH:
                    yield _batch(held, schema)
                    done += len(held)
                    update(done, "generated")
                    held = []
        if held:
            yield _batch(held, schema)

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        return table

    def with_answers(self, rows: pa.Table, values: Sequence[Value]) -> pa.Table:
        return super().with_answers(rows, [value["text"] for value in values])

    @cached_property
    def scorer(self) -> "InverseScorer":
        return InverseScorer(self)


class InverseScorer(TextScorer):
    """`verified`: a candidate is right; `verified_at_1`: the first one is; `exact`: it is the text that was generated with the question."""

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        found = [self._judged(value, question) for value, question in zip(values, self.task.inputs(rows), strict=True)]
        exact = super().example_stats([value["text"] for value in found], rows)[:, 0]
        any_right = np.array([value["verified"] for value in found])
        first_right = np.array([value["verified"] and value["rank"] == 1 for value in found])
        return np.stack([any_right, first_right, exact], axis=1).astype(np.int64)

    def parse_value(self, cell: object) -> Value:
        """An answer of a model as it was written to a file, or a text."""
        return cell if isinstance(cell, dict) and {"text", "rank"} <= cell.keys() else str(cell)

    def _judged(self, value: Value, question: Question) -> Json:
        """Baselines and files give texts. What a file says of its answers is verified again."""
        text, rank = (str(value["text"]), value["rank"]) if isinstance(value, dict) else (str(value), 1)
        return {"text": text, "verified": problem_of(self.task.name).verify(question, text), "rank": rank}

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return dict(zip(("verified", "verified_at_1", "exact"), example_stats.mean(axis=0).tolist(), strict=True))

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        return np.zeros_like(example_stats)


def _batch(rows: list[tuple[str | bytes, ...]], schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([*map(list, zip(*rows, strict=True))], schema=schema)
