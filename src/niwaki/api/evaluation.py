"""Scores a saved model or a file of predictions on a split of a task."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from niwaki.api.loading import load
from niwaki.api.task_choice import choose_task
from niwaki.core.errors import InputError, UsageError, did_you_mean, first_line
from niwaki.core.json_types import Json
from niwaki.engines.pretrained_head import LANGUAGE_MODEL

if TYPE_CHECKING:
    import numpy as np
    import pyarrow

    from niwaki.tasks._task import Task


def evaluate(
    model: str | Path = "",
    *,
    task: str = "",
    data: str | Path = "",
    split: str = "test",
    engine: str = "",
    overrides: Sequence[str] = (),
    predictions: str | Path = "",
    against: str | Path = "",
) -> Json:
    """Scores of a saved model, or of a file of predictions, on a split of a task, with confidence intervals.

    `against` is a second model or file to compare with by a paired bootstrap. `overrides` change settings of the data.
    """
    from niwaki.evaluate.quality import difference, quality

    if bool(model) == bool(predictions):
        raise UsageError("evaluate: give a model, or a file of predictions (--predictions)")
    chosen = choose_task(task, data, overrides)
    table = rows_of_split(chosen, split)
    first = _example_stats(chosen, table, model or predictions, bool(predictions), engine)
    result = {"task": chosen.name, "split": split, **quality(chosen, first), "caveat": chosen.data.caveats}
    if against:
        second = _example_stats(chosen, table, against, Path(against).is_file(), engine)
        result["against"] = {**quality(chosen, second), "paired": difference(chosen, [first], [second])}
    return result


def rows_of_split(task: "Task", split: str) -> "pyarrow.Table":
    splits = task.splits()
    if split not in splits:
        raise InputError(f"split '{split}': is not there{did_you_mean(split, list(splits))}")
    return splits[split]


def _example_stats(
    task: "Task", table: "pyarrow.Table", source: str | Path, is_file: bool, engine: str
) -> "np.ndarray":
    """Per-example statistics of the predictions of a model or of a file."""
    if is_file:
        return _example_stats_of_file(task, table, Path(source))
    from niwaki.tasks._model_check import check_model_matches

    predictor = load(source, engine, head=LANGUAGE_MODEL if task.answer == "likelihood" else "")
    check_model_matches(task, predictor.answer_type, predictor.labels, predictor.folder)
    return task.scorer.example_stats(predictor.values(task.inputs(table)), table)


def _example_stats_of_file(task: "Task", table: "pyarrow.Table", path: Path) -> "np.ndarray":
    """Raises InputError if the file contains a value that is not an answer of the task."""
    import numpy as np

    try:
        example_stats = task.scorer.example_stats(
            [task.scorer.parse_value(value) for value in _predictions(path, table.num_rows)], table
        )
        if not np.isfinite(example_stats).all():
            raise ValueError("a number is infinite or none")
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: its predictions are no answers to task '{task.name}' ({first_line(error)})"
        ) from None
    return example_stats


def _predictions(path: Path, rows: int) -> list[Any]:
    """The column `prediction`, or the only column, of a file with one row per row of the split, in the same order."""
    from niwaki.data.dataset_files import read_splits

    if not path.is_file():
        raise InputError(f"{path}: is no file of predictions, it is not there or a folder")
    (table,) = read_splits(path).values()
    names = table.column_names
    column = "prediction" if "prediction" in names else names[0] if len(names) == 1 else None
    if column is None:
        raise InputError(f"{path}: has no column 'prediction' (there is: {', '.join(names)})")
    if table.num_rows != rows:
        raise InputError(
            f"{path}: has {table.num_rows} predictions for {rows} rows; give one for each row, in their order"
        )
    return table.column(column).to_pylist()
