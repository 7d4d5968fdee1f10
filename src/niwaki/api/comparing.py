"""Compares two models on the same rows: what changed, who pays for it, and whether that is within limits."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.api.evaluation import rows_of_split
from niwaki.api.loading import load
from niwaki.api.task_choice import choose_task
from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import MODEL, display_name
from niwaki.core.run_folder import is_run, open_run
from niwaki.engines.predictor import Predictor
from niwaki.run.model_path import model_path
from niwaki.run.result import Run

if TYPE_CHECKING:
    from niwaki.evaluate.changes.comparison import Rows, Side
    from niwaki.tasks._task import Task

ALL = "all"  # the split of all rows


@dataclass(frozen=True)
class Limits:
    """In points: hundredths of the score, of all rows for churn."""

    max_churn: float | None = None
    max_loss: float | None = None
    max_group_loss: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not 0 <= value <= 100:
                raise UsageError(f"{name}: must be from 0 to 100 points (given: {value:g})")


@dataclass(frozen=True)
class Comparison:
    """`facts` is everything that was found, as plain data; `exceeded` has a sentence for each limit that was exceeded."""

    facts: Json
    exceeded: list[str] = field(default_factory=list)

    @property
    def html(self) -> str:
        """One page, which opens offline."""
        from niwaki.report.changes_page import page

        return page(self.facts)

    def write(self, path: str | Path) -> None:
        from niwaki.core.files import write_text

        write_text(Path(path), self.html)

    def __repr__(self) -> str:
        from niwaki.report.changes_summary import summary

        return "\n".join(summary(self.facts))


def compare(
    a: str | Path,
    b: str | Path = "",
    *,
    data: str | Path = "",
    task: str = "",
    split: str = "",
    groups: Sequence[str] = (),
    a_seeds: Sequence[str | Path] = (),
    b_seeds: Sequence[str | Path] = (),
    stage: str = "",
    engine: str = "",
    overrides: Sequence[str] = (),
    limits: Limits | None = None,
    speed: bool = True,
    seed: int = 0,
) -> Comparison:
    """Compares model `b` with model `a`, or the stages of a run with its first one.

    `groups` are columns of the rows whose values form groups. `a_seeds` and `b_seeds` are the same models from further seeds.
    `split` is `test` by default; `all` takes every row.

    >>> niwaki.compare("teacher", "small", data="rows.csv").write("changes.html")
    """
    from niwaki.evaluate.changes.comparison import compare as compared
    from niwaki.evaluate.changes.comparison import stage_changes

    check_paths(a, b, *a_seeds, *b_seeds)
    run = Path(a).expanduser() if not b else None
    sides, others = stages_of_run(run, stage, engine) if run else (pair(a, b, a_seeds, b_seeds, stage, engine), [])
    chosen = task_of(run, task, data, overrides, groups, sides[0].predictor, whole=split == ALL)
    rows = rows_of(chosen, split or "test", groups)
    for side in (*sides, *others):
        check_models(chosen, side)
    facts = compared(*sides, rows, seed, speed)
    facts["stages"] = stage_changes(others, rows, seed) if others else None
    facts["split"] = split or "test"
    limits = limits or Limits()
    facts["limits"] = {**vars(limits), "exceeded": exceeded(facts, limits)}
    return Comparison(facts, facts["limits"]["exceeded"])


def check_paths(*models: object) -> None:
    for model in models:
        if not isinstance(model, str | Path):
            raise UsageError(f"compare: a model is given as a path (given: {type(model).__name__})")


def pair(
    a: str | Path, b: str | Path, a_seeds: Sequence[str | Path], b_seeds: Sequence[str | Path], stage: str, engine: str
) -> "tuple[Side, Side]":
    from niwaki.evaluate.changes.comparison import Side

    if stage:
        raise UsageError("--stage: names a stage of a run; give the run alone, or RUN/STAGE as a model")
    if bool(a_seeds) != bool(b_seeds):
        raise UsageError("further seeds: give some of both models")
    folders = [model_path(name, single=True) for name in (a, b)]
    names = [display_name(folder) for folder in folders]
    if names[0] == names[1]:
        names = [str(a), str(b)] if str(a) != str(b) else [f"{a} (A)", f"{b} (B)"]
    seeds = [[load(model_path(name, single=True), engine) for name in some] for some in (a_seeds, b_seeds)]
    first, second = (
        Side(name, load(folder, engine), some) for name, folder, some in zip(names, folders, seeds, strict=True)
    )
    return first, second


def stages_of_run(folder: Path, stage: str, engine: str) -> "tuple[tuple[Side, Side], list[Side]]":
    """The first stage and the named or recommended one, each with its further seeds; and all finished stages."""
    from niwaki.evaluate.changes.comparison import Side

    if not is_run(folder):
        raise UsageError(f"{folder}: is no run; give two models to compare, or a run")
    run, verified = Run.read(folder), open_run(folder)
    finished = [str(one["name"]) for one in run.stages if one.get("score") is not None]
    second = stage or run.report["verdict"]["deploy"]
    if second not in finished:
        raise InputError(f"{folder}: has no finished stage '{second}'{did_you_mean(str(second), finished)}")
    if len(finished) < 2:
        raise InputError(f"{folder}: has one finished stage, so there is nothing to compare")
    second = finished[-1] if second == finished[0] else second

    def seeds_of(name: str) -> list[Predictor]:
        planned = [
            one for repeat in verified.plan.get("repeats", []) for one in repeat["stages"] if one["name"] == name
        ]
        return [
            load(verified.stages[one["folder"]] / MODEL, engine) for one in planned if one["folder"] in verified.stages
        ]

    every = [Side(name, load(run.model(name), engine)) for name in finished]
    two = (next(side for side in every if side.name == name) for name in (finished[0], second))
    first, other = (Side(side.name, side.predictor, seeds_of(side.name)) for side in two)
    return (first, other), every


def task_of(
    run: Path | None,
    task: str,
    data: str | Path,
    overrides: Sequence[str],
    groups: Sequence[str],
    model: Predictor,
    whole: bool,
) -> "Task":
    """The task of the rows, or of the run if none are given. Rows that name labels by number take the model's names for them,
    and rows with few of its labels take the others too."""
    from niwaki.compression.rows import matching_classes
    from niwaki.core.run_folder import RECIPE
    from niwaki.run import recipe
    from niwaki.tasks.classification import Classification

    if run and not data and not task:
        chosen = recipe.read(run / RECIPE, [*overrides]).make_task()
        chosen.data.carry_columns(groups)
        return chosen
    chosen = choose_task(task, data, overrides, groups, whole)
    if isinstance(chosen, Classification) and not chosen.known_labels and chosen.found_labels != model.labels:
        names = matching_classes(chosen, model.folder)
        named = [f"data.classes={json.dumps(names)}"] if names else []
        chosen = choose_task(task, data, [*overrides, *named], groups, whole)
    return chosen


def rows_of(task: "Task", split: str, groups: Sequence[str]) -> "Rows":
    import pyarrow as pa

    from niwaki.evaluate.changes.comparison import Rows
    from niwaki.tasks._data import carried_column
    from niwaki.tasks._task import texts_in

    splits = task.splits()
    table = pa.concat_tables(splits.values()) if split == ALL else rows_of_split(task, split)
    if not table.num_rows:
        raise InputError(f"{task.data.source}: has no {split} rows")
    train = splits["train"]
    included = split == ALL or (split == "train")
    source = table if included or not train.num_rows else train
    known = [list(texts_in(given)) for given in task.inputs(source)]
    columns = {name: table.column(carried_column(name)).to_pylist() for name in groups}
    return Rows(task, table, columns, known, included, "other" if included else "train")


def check_models(task: "Task", side: "Side") -> None:
    from niwaki.answers.embedding import Embedding
    from niwaki.tasks._model_check import check_model_matches

    for predictor in (side.predictor, *side.seeds):
        if isinstance(predictor.answer_type, Embedding):
            raise InputError(
                f"{predictor.folder}: gives embeddings, which have no predictions to compare; compare models with a task head"
            )
        check_model_matches(task, predictor.answer_type, predictor.labels, predictor.folder)


def exceeded(facts: Json, limits: Limits) -> list[str]:
    """A sentence for each limit that the point estimates exceed."""
    from niwaki.evaluate.changes.group_changes import exceeds

    found, metric = [], facts["task"]["metric"]
    changed, loss = 100 * facts["churn"]["changed"]["value"], -100 * facts["difference"]["difference"]
    if limits.max_churn is not None and changed > limits.max_churn:
        found.append(f"churn: {changed:.1f} % of the predictions changed, the limit is {limits.max_churn:g} %")
    if limits.max_loss is not None and loss > limits.max_loss:
        found.append(f"{metric}: {loss:.1f} points lost, the limit is {limits.max_loss:g}")
    most = limits.max_group_loss
    for row in facts["groups"]:
        if most is not None and exceeds(row, most):
            ends = f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"
            found.append(
                f"group {row['kind']} '{row['name']}': {100 * row['loss']:.1f} points lost ({ends}, {row['rows']} rows), the limit is {most:g}"
            )
    return found
