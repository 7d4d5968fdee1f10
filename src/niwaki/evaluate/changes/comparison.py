"""Compares two models on the same rows: predictions, groups, calibration, robustness, layers, cost.

Every part takes predictions and per-example statistics from the task's scorer and the answer type; parts that an answer type does not
allow are named in `left_out`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from niwaki.answers._answer_type import Input, Value
from niwaki.core.files import folder_bytes
from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.changes.answered import Answered, answer
from niwaki.evaluate.changes.calibration import calibration
from niwaki.evaluate.changes.changed_texts import changed_texts
from niwaki.evaluate.changes.churn import changed_rows, churn
from niwaki.evaluate.changes.group_changes import group_changes
from niwaki.evaluate.changes.layers import layer_changes
from niwaki.evaluate.changes.pie import pie
from niwaki.evaluate.changes.robustness import robustness
from niwaki.evaluate.changes.row_groups import row_groups
from niwaki.evaluate.quality import difference, quality
from niwaki.evaluate.speed import race
from niwaki.tasks._task import Task

RACE_TEXTS, ROUNDS, SINGLES = 64, 6, 5
LEAST_CALIBRATED = 100  # rows
PARTS = 6  # of the work, for progress


@dataclass(frozen=True)
class Rows:
    """`known` are texts that count how rare a word is; `columns` the user's group columns by name."""

    task: Task
    table: pa.Table
    columns: Mapping[str, Sequence[object]]
    known: Sequence[Sequence[str]]
    included: bool  # the rows are among the known ones
    known_as: str  # "train" or "other", for names of groups


@dataclass(frozen=True)
class Side:
    """One side of the comparison: a model, and models of further seeds."""

    name: str
    predictor: Predictor
    seeds: Sequence[Predictor] = ()


def compare(first: Side, second: Side, rows: Rows, seed: int = 0, speed: bool = True) -> Json:
    """All figures as plain data."""
    task, inputs = rows.task, rows.task.inputs(rows.table)
    with progress("compare", PARTS) as done:
        a, b = (_answered(side, rows, inputs) for side in (first, second))
        done(1, "predictions")
        changed = changed_rows(a.values, b.values, a.same)
        found: Json = {
            "version": 1,
            "task": {"name": task.name, "metric": task.metric, "answer": task.answer, "rows": rows.table.num_rows},
            "seed": seed,
            "models": {side: about(one, task) for side, one in (("a", a), ("b", b))},
            "difference": difference(task, [b.example_stats], [a.example_stats], seed),
            "churn": churn(changed, a.credit, b.credit),
            "texts": changed_texts(a, b, inputs, task.gold(rows.table), changed),
            "pie": _pie(a, b, first, second, inputs),
        }
        done(2, "groups")
        found["groups"] = group_changes(row_groups(a, b, rows, inputs), a.credit, b.credit, changed, seed)
        done(3, "calibration")
        found["calibration"] = calibrations(a, b, seed)
        found["robustness"] = robustness(a, b, inputs, seed)
        done(4, "small edits")
        found["layers"] = layer_changes(a, b)
        done(5, "layers")
        found["speed"] = speed_of(a, b, inputs) if speed else None
        done(PARTS, "speed")
    return found | {"left_out": left_out(found, task.answer, speed)}


def _answered(side: Side, rows: Rows, inputs: Sequence[Input]) -> Answered:
    return answer(side.predictor, side.name, rows.task, rows.table, inputs)


def about(model: Answered, task: Task) -> Json:
    folder = model.predictor.folder
    return {
        "name": model.name,
        "engine": model.predictor.engine,
        "bytes": folder_bytes(folder),
        "score": quality(task, model.example_stats),
    }


def _pie(a: Answered, b: Answered, first: Side, second: Side, inputs: Sequence[Input]) -> Json | None:
    if not first.seeds or not second.seeds:
        return None
    groups: list[list[list[Value]]] = [
        [one.values, *(predictor.values(inputs) for predictor in side.seeds)] for one, side in ((a, first), (b, second))
    ]
    return pie(groups[0], groups[1], a.same)


def calibrations(a: Answered, b: Answered, seed: int) -> Json | None:
    """Of both models, if their answers are one of several candidates and the rows are enough for bins."""
    if a.logits is None or b.logits is None or len(a.logits) < LEAST_CALIBRATED:
        return None
    gold = a.example_stats[:, 1]
    return {side: calibration(one.logits, gold, seed) for side, one in (("a", a), ("b", b)) if one.logits is not None}


def speed_of(a: Answered, b: Answered, inputs: Sequence[Input]) -> Json:
    """Short interleaved laps of both models; ratios to A."""
    texts = list(inputs[:RACE_TEXTS])
    return race({"a": a.predictor.values, "b": b.predictor.values}, texts, "a", ROUNDS, SINGLES)


def stage_changes(models: Sequence[Side], rows: Rows, seed: int = 0) -> list[Json]:
    """Score and churn of several models, each compared with the first: the stages of a run."""
    inputs = rows.task.inputs(rows.table)
    first, *others = (_answered(side, rows, inputs) for side in models)
    found = [
        {
            "name": first.name,
            "score": quality(rows.task, first.example_stats),
            "bytes": folder_bytes(first.predictor.folder),
        }
    ]
    for other in others:
        changed = changed_rows(first.values, other.values, first.same)
        found.append(
            {
                "name": other.name,
                "score": quality(rows.task, other.example_stats),
                "bytes": folder_bytes(other.predictor.folder),
                "difference": difference(rows.task, [other.example_stats], [first.example_stats], seed),
                "churn": churn(changed, first.credit, other.credit),
            }
        )
    return found


def left_out(found: Json, answer: str, speed: bool) -> list[str]:
    """What is missing on this page, and why."""
    reasons = list(found["layers"]["missing"])
    if found["calibration"] is None:
        reasons.append(
            f"Calibration: needs {LEAST_CALIBRATED} rows and an answer that is one of several candidates (here: {answer})."
        )
    if not any(row["kind"] == "class" for row in found["groups"]):
        reasons.append(f"Classes: the correct answers ({answer}) are all alike, or do not repeat.")
    if not found["robustness"]:
        reasons.append("Small edits: no row has a text that can be edited.")
    if found["pie"] is None:
        reasons.append("Rows that change across seeds (PIE): give further seeds of both models.")
    if not speed:
        reasons.append("Speed and energy: not measured (--no-speed).")
    return reasons
