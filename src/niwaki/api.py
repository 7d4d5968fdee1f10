"""What `import niwaki` offers. The command line calls the same functions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError, UsageError, did_you_mean, first_line
from niwaki.core.head_folder import existing_head
from niwaki.core.log import info
from niwaki.core.model_integrity import display_name, warn_unverified
from niwaki.core.run_folder import is_run
from niwaki.engines.cascade import engines_of, open_predictor
from niwaki.engines.engine_choice import timed_engines
from niwaki.engines.predictor import Predictor
from niwaki.run.add_head import add_head
from niwaki.run.result import Run
from niwaki.run.start import RUNS, check, data_overrides, run

__all__ = [
    "RUNS",
    "add_head",
    "bench",
    "cascade",
    "check",
    "evaluate",
    "export",
    "load",
    "predict_file",
    "run",
    "sensitivity",
    "tokenizer",
]


def load(
    path: str | Path, engine: str = "auto", threads: int | None = None, stage: str = "", head: str = ""
) -> Predictor:
    """A model ready for text: `load(folder).predict(["…"])`. Of a run, the recommended or the named stage; `head` is a further head's name."""
    if not isinstance(path, str | Path):
        raise UsageError(f"load: the path must be text or a Path (given: {type(path).__name__})")
    folder = existing_head(_folder(path, stage), head) if head else _folder(path, stage)
    predictor = open_predictor(folder, engine, threads)
    warn_unverified(folder)  # after loading: a folder that is rejected says so in one line
    return predictor


def predict_file(
    model: str | Path,
    source: str | Path,
    out: str | Path,
    *,
    engine: str = "auto",
    columns: Sequence[str] = (),
    skip_bad: bool = False,
    force: bool = False,
    stage: str = "",
    head: str = "",
) -> dict[str, Any]:
    """Answers every input of a file of any size in a file of JSON lines. Killed, the same call goes on where it was."""
    from niwaki.engines.input_file import check_columns_exist
    from niwaki.engines.partial_output import check_output_path
    from niwaki.engines.stream import predict_file as answer

    check_columns_exist(Path(source), columns)
    check_output_path(Path(out), force, [Path(source)])
    predictor = load(model, engine, stage=stage, head=head)
    return answer(predictor, Path(source), Path(out), columns=columns, skip_bad=skip_bad, force=force)


def _folder(path: str | Path, stage: str = "") -> Path:
    """Of a run's folder, which is verified, that of the model its report says to deploy, or of the named stage's."""
    folder = Path(path).expanduser()
    if stage and not is_run(folder):
        raise UsageError(f"{folder}: is not the folder of a run, so it has no stage '{stage}'; leave the stage out")
    if stage:
        return Run.read(folder).model(stage)
    return Run.read(folder).deploy if is_run(folder) else folder


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
) -> dict[str, Any]:
    """The scores of a saved model, or of a file of predictions, on a split of a task, each with its interval.

    `against` is a second model or file: then also the difference, by a paired bootstrap. `overrides` are those of a recipe's data.
    """
    from niwaki.evaluate.quality import difference, quality

    if bool(model) == bool(predictions):
        raise UsageError("evaluate: give a model, or a file of predictions (--predictions)")
    chosen = _task(task, data, overrides)
    table = _rows(chosen, split)
    first = _example_stats(chosen, table, model or predictions, bool(predictions), engine)
    result = {"task": chosen.name, "split": split, **quality(chosen, first), "caveat": chosen.data.caveats}
    if against:
        second = _example_stats(chosen, table, against, Path(against).is_file(), engine)
        result["against"] = {**quality(chosen, second), "paired": difference(chosen, [first], [second])}
    return result


def export(
    model: str | Path,
    to: str = "native",
    out: str | Path = "exported",
    *,
    precision: str = "",
    task: str = "",
    data: str | Path = "",
    overrides: Sequence[str] = (),
    tolerance: float = 0.005,
) -> dict[str, Any]:
    """Writes a model as an engine wants it, and says how near it is to its source; GateMissed where it is not near enough."""
    from niwaki.run.export import export as write

    chosen = _task(task, data, overrides) if task or data else None
    folder = _folder(model)
    exported = write(folder, to, Path(out).expanduser(), precision, chosen, tolerance)
    warn_unverified(folder)
    return exported


def bench(
    models: Sequence[str | Path],
    *,
    engines: Sequence[str] = (),
    streams: Sequence[str] = (),
    rounds: int = 6,
    threads: int | None = None,
) -> dict[str, Any]:
    """Throughput, latency and energy of saved models and cascades in their engines, taken in turns on streams of several lengths."""
    from niwaki.evaluate.bench import STREAMS, readable_streams
    from niwaki.evaluate.bench import bench as measure

    for stream in streams:
        if stream not in STREAMS:
            raise UsageError(f"--stream {stream}: is not one{did_you_mean(stream, list(STREAMS))}")
    named = _named(models)
    chosen: dict[str, tuple[Path, str]] = {}
    for name, folder in named.items():
        for engine in engines or timed_engines(engines_of(folder)):
            chosen[f"{name} {engine}"] = (folder, engine)
    measured = measure(chosen, readable_streams(list(named.values()), streams), rounds, threads)
    for folder in named.values():
        warn_unverified(folder)
    return measured


def _named(models: Sequence[str | Path]) -> dict[str, Path]:
    """Their folders by what people call them, or as they were given where two have the same name."""
    folders = [_folder(model) for model in models]
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UsageError("bench: a model is given twice; give different ones")
    names = [display_name(folder) for folder in folders]
    return dict(zip(names if len(set(names)) == len(names) else map(str, models), folders, strict=True))


def cascade(
    models: Sequence[str | Path],
    *,
    task: str = "",
    data: str | Path = "",
    keep: float = 0.99,
    level: float = 0.95,
    out: str | Path = "cascade",
    overrides: Sequence[str] = (),
    engine: str = "",
    force: bool = False,
) -> dict[str, Any]:
    """Saves one model composed of several, cheapest first, that is shown to keep a share of the last one's score; GateMissed where the
    validation rows cannot show it."""
    from niwaki.run.cascade import make

    folders = [_folder(model) for model in models]
    result = make(folders, _task(task, data, overrides), Path(out).expanduser(), keep, level, engine, force)
    for folder in folders:
        warn_unverified(folder)
    return result


def sensitivity(
    model: str | Path, *, task: str = "", data: str | Path = "", overrides: Sequence[str] = (), rows: int = 64
) -> dict[str, Any]:
    """What each layer, head and matrix of a saved model is worth on a task: the loss on validation rows with each cut in turn."""
    import torch

    from niwaki.evaluate.sensitivity import sensitivity as measure
    from niwaki.models.forward import forward
    from niwaki.models.model import load_folder
    from niwaki.tasks._model_check import adapt_to_model
    from niwaki.train.collator import Collator, encode_split

    chosen, folder = _task(task, data, overrides), _folder(model)
    loaded = load_folder(folder)
    warn_unverified(folder)
    adapt_to_model(chosen, folder, loaded.network.config.to_dict(), loaded.labels)
    collator = Collator(encode_split(loaded, chosen, "validation"), loaded, torch.device("cpu"))
    some = range(min(rows, len(collator.features)))
    batches = [collator.batch(some[first : first + 32]) for first in range(0, len(some), 32)]
    criterion = chosen.criterion
    found = measure(loaded, batches, lambda one, batch: criterion.loss(forward(one.anatomy, batch).logits, batch))
    return {"model": str(folder), "task": chosen.name, "rows": len(some), **found}


def tokenizer(
    sources: Sequence[str | Path],
    *,
    split: str = "bpe",
    vocab_size: int = 8000,
    out: str | Path = "tokenizer",
    columns: Sequence[str] = (),
) -> dict[str, Any]:
    """Writes a folder with a tokenizer.json trained on texts (lines of files, or columns of tables), and returns its statistics on a
    tenth of them that it was not trained on."""
    from niwaki.run.tokenizer_training import write

    if isinstance(sources, str | Path) or isinstance(columns, str):
        raise UsageError("tokenizer: sources and columns are lists; put a single one into a list")
    return write([Path(one).expanduser() for one in sources], split, vocab_size, Path(out).expanduser(), columns)


def _task(task: str, data: str | Path, overrides: Sequence[str]) -> Any:
    from niwaki.core.settings import check as checked
    from niwaki.run.overrides import apply_override
    from niwaki.tasks import TASKS
    from niwaki.tasks._task import Task

    values: dict[str, Any] = {"data": {}}
    named = [f"task={task}"] if task else []
    for override in (
        *(data_overrides(str(data), [*named, *overrides]) if data else named or ["task=rotten_tomatoes"]),
        *overrides,
    ):
        if not override.startswith(("data.", "data=", "task=")):
            raise InputError(f"--set {override}: only settings of the data count here; write data.key=value")
        apply_override(values, override)
    chosen = checked(TASKS.load(values["task"], Task), values["data"], "data")
    for remark in chosen.data.remarks():
        info(remark)
    return chosen


def _rows(task: Any, split: str) -> Any:
    splits = task.splits()
    if split not in splits:
        raise InputError(f"split '{split}': is not there{did_you_mean(split, list(splits))}")
    return splits[split]


def _example_stats(task: Any, table: Any, source: str | Path, is_file: bool, engine: str) -> Any:
    """What comes of the answers of a model, or of a file, to the rows."""
    if is_file:
        return _example_stats_of_file(task, table, Path(source))
    from niwaki.tasks._model_check import check_model_matches

    predictor = load(source, engine)
    check_model_matches(task, predictor.answer_type, predictor.labels, predictor.folder)
    return task.scorer.example_stats(predictor.values(task.inputs(table)), table)


def _example_stats_of_file(task: Any, table: Any, path: Path) -> Any:
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
    """Of a file with a column `prediction` (or only one column), one row for each row of the split, in its order."""
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
