"""The rows on which candidates are judged and students are trained.

labelled rows       the user's; the score is that of their task
unlabelled texts    the user's; the source model labels them, so the score is the agreement with it
no data             sample texts of niwaki, labelled by the source model; nothing is trained on them
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from niwaki.answers._from_config import answer_type_of, labels_of
from niwaki.answers.embedding import Embedding
from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import commit_folder
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.settings import check
from niwaki.data import column_names, unlabelled
from niwaki.data.objects import to_splits
from niwaki.data.sample_texts import sample_texts
from niwaki.engines.predictor import Predictor
from niwaki.models.config_rules import read as read_config
from niwaki.models.head_labels import counts_only
from niwaki.run.overrides import apply_override
from niwaki.run.start import infer_task
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.tasks.classification import Classification

ROWS = "rows"  # folder below the run folder for rows that were given as objects
SHARE, SHARE_WITHOUT_TRAINING = 0.25, 0.4  # of texts that the source labels, for validation and for the test each
TASK_OF = {"label": "classification", "labels": "multilabel", "number": "regression", "tags": "tagging"}


@dataclass(frozen=True)
class Rows:
    """The keys `task` and `data` of a recipe, and what may be done with the rows."""

    task: str
    settings: Json
    labelled: bool  # otherwise scores are the agreement with the source model
    can_train: bool

    @property
    def score_name(self) -> str:
        return TASKS.load(self.task, Task).metric if self.labelled else "agreement"


def find_rows(source: Path, data: object, y: object, overrides: Sequence[str], folder: Path) -> Rows:
    """The rows for a source model; those that a recipe cannot read are written into `folder`."""
    if data is None:
        info("no data: the model is compared with its source on sample texts, which say little about yours")
        return self_labelled(source, list(sample_texts()), overrides, folder, can_train=False)
    path = Path(data).expanduser() if isinstance(data, str | Path) else None
    if path is not None and path.is_file() and unlabelled.is_plain(path):
        return self_labelled(source, [*unlabelled.texts(path)], overrides, folder)
    splits = to_splits(data, y)
    if columns := only_texts(next(iter(splits.values()))):
        return self_labelled(source, rows_of(splits, columns), overrides, folder)
    where = str(data) if path is not None else str(written(splits, folder))
    return labelled(source, where, overrides)


def is_encoder(source: Path) -> bool:
    """Whether the model gives sentence embeddings instead of answers."""
    return isinstance(answer_type_of(read_config(source), str(source)), Embedding)


def texts_in(data: object) -> list[str]:
    """The texts for a sentence encoder, without labels; sample texts if there is no data."""
    if data is None:
        info("no data: embeddings are compared with the source's on sample texts, which say little about yours")
        return sample_texts()
    path = Path(data).expanduser() if isinstance(data, str | Path) else None
    if path is not None and path.is_file() and unlabelled.is_plain(path):
        return [text for text in unlabelled.texts(path) if isinstance(text, str)]
    tables = to_splits(data).values()
    found = [unlabelled.text_columns(table, path or Path("data"), "name one column 'text'") for table in tables]
    texts = [text for table, (name, *_) in zip(tables, found, strict=True) for text in table.column(name).to_pylist()]
    return [*dict.fromkeys(text for text in texts if text and text.strip())]


def only_texts(table: pa.Table) -> list[str]:
    """The columns of a table that has nothing but a text, or a known pair of texts, in each row."""
    names = table.column_names
    is_text = all(pa.types.is_string(field.type) or pa.types.is_large_string(field.type) for field in table.schema)
    alone = len(names) == 1 or (len(names) == 2 and len(column_names.pairs(names)) == 1)
    return names if is_text and alone else []


def rows_of(splits: dict[str, pa.Table], columns: list[str]) -> list[unlabelled.Text]:
    found = [
        row
        for table in splits.values()
        for row in zip(*(table.column(name).to_pylist() for name in columns), strict=True)
    ]
    return [
        row[0] if len(columns) == 1 else (row[0], row[1]) for row in found if all(text and text.strip() for text in row)
    ]


def written(splits: dict[str, pa.Table], folder: Path) -> Path:
    """Writes tables as a file, or as a folder with a file for each split."""
    with commit_folder(folder / ROWS) as inside:
        for name, table in splits.items():
            parquet.write_table(table, inside / f"{name}.parquet")
    return folder / ROWS / "all.parquet" if "all" in splits else folder / ROWS


def labelled(source: Path, where: str, overrides: Sequence[str]) -> Rows:
    values: Json = {"task": infer_task(where, overrides), "data": {"path": where}}
    apply(values, overrides)
    kind = TASKS.load(str(values["task"]), Task)
    if issubclass(kind, Classification) and not kind.label_names and "classes" not in values["data"]:
        task = check(kind, values["data"], "data")
        if names := matching_classes(task, source):
            values["data"]["classes"] = names
    return Rows(str(values["task"]), values["data"], labelled=True, can_train=True)


def apply(values: Json, overrides: Sequence[str]) -> None:
    for override in overrides:
        if not override.startswith(("data.", "task=")):
            raise UsageError(f"--set {override}: only settings of the data count here; write data.key=value")
        apply_override(values, override)


def matching_classes(task: Classification, source: Path) -> list[str]:
    """The model's labels if the rows name some of them or their numbers; none if the labels are the same but for case or order."""
    names, found = labels_of(read_config(source), str(source)), task.found_labels
    if sorted(map(str.casefold, names)) == sorted(map(str.casefold, found)):
        return []
    if set(found) <= set(names) or all(name.isdigit() and int(name) < len(names) for name in found):
        return names
    if counts_only(names) and len(names) == len(found):
        info(f"{source}: its labels have no names; they are taken for {', '.join(found[:8])}, in this order")
        return []
    raise InputError(
        f"{task.data.source}: has the labels {', '.join(found[:6])}, the model answers with {', '.join(names[:6])}; "
        "give rows with the model's labels, or their numbers"
    )


def self_labelled(
    source: Path, texts: Sequence[unlabelled.Text], overrides: Sequence[str], folder: Path, can_train: bool = True
) -> Rows:
    """Rows whose labels are the source model's predictions."""
    predictor = Predictor(source)
    kind = str(predictor.answer_type.to_json()["kind"])
    if kind not in TASK_OF:
        raise InputError(f"{source}: answers with a {kind}, for which labelled rows are needed; give them as data")
    share = SHARE if can_train else SHARE_WITHOUT_TRAINING
    values: Json = {"task": TASK_OF[kind], "data": {"validation": share, "test": share}}
    values["data"]["path"] = str(written({"all": answered(predictor, kind, texts)}, folder))
    if kind == "label":
        values["data"]["classes"] = predictor.labels
    apply(values, overrides)
    return Rows(str(values["task"]), values["data"], labelled=False, can_train=can_train)


def answered(predictor: Predictor, kind: str, texts: Sequence[unlabelled.Text]) -> pa.Table:
    """A table of the texts and the model's predictions, in the columns that the task expects."""
    distinct = [*dict.fromkeys(texts)]
    if kind == "tags":
        words = [text.split() for text in distinct if isinstance(text, str)]
        return pa.table({"tokens": words, "tags": predictor.values(words)})
    pairs = {"second": [text[1] for text in distinct]} if distinct and isinstance(distinct[0], tuple) else {}
    first = [text if isinstance(text, str) else text[0] for text in distinct]
    return pa.table({"text": first, **pairs, "label": predictor.values(distinct)})
