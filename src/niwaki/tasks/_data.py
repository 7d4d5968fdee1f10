"""The rows of a task: found, read, brought into the task's own columns, and split."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType
from niwaki.answers.label import Label
from niwaki.answers.labels import Labels
from niwaki.core import log
from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.files import fingerprint
from niwaki.core.json_types import Json
from niwaki.data import dataset_files
from niwaki.data.cells import empty_cells
from niwaki.data.columns import guess_columns
from niwaki.data.overlap import shared_rows
from niwaki.data.splits import SPLITS, has_labels, make_splits
from niwaki.tasks._capabilities import AddsTrainRows, ReadsOtherFiles
from niwaki.tasks._column_report import describe_columns
from niwaki.tasks._declarations import Published
from niwaki.tasks._label_report import contradictions
from niwaki.tasks._splitting import keep_rare_labels, rare_remark, reject_too_few_rows, sample_rows
from niwaki.tasks._tables import digest, each_of

if TYPE_CHECKING:
    from niwaki.tasks._task import Task

INPUT_COLUMNS = ("text", "second", "question", "context", "endings")  # a row is a duplicate if these are equal
Columns = Json  # role → column; for endings a list of columns


def carried_column(name: str) -> str:
    """The name of a carried column next to the task's own ones."""
    return f"column:{name}"


class TaskData:
    """Read once per task object."""

    def __init__(self, task: "Task") -> None:
        self.task = task
        self._columns_remark = ""
        self._rare_remark = ""  # labels that are too rare for a split
        self._given: tuple[str, ...] = ()  # splits besides train that a file gives
        self._carried: tuple[str, ...] = ()  # columns of the user's that follow their rows
        self.whole = False  # whether rows that are not divided yet are all train rows; set before rows are read

    @property
    def source(self) -> str | Path:
        task, published = self.task, self.task.published
        if published.embedded:
            _reject_path(self.task)
            return task.name
        if not task.path and not published.hub_id:
            raise InputError(f"data.path: needed for task '{task.name}' (a file or folder with its rows)")
        inside = Path(task.path).expanduser() / published.folder
        return inside if published.folder and task.path and inside.is_dir() else task.path or published.hub_id

    def read_files(self) -> dict[str, pa.Table]:
        """Tables by part; rows that are not divided yet are the part `all`."""
        found, renamed = dataset_files.read_splits(self.source), self.task.published.evaluation_splits
        if not renamed:
            return found
        missing = [theirs for theirs in ("train", *renamed.values()) if theirs not in found]
        if missing:
            raise InputError(f"{self.source}: has no {missing[0]} rows, which task '{self.task.name}' needs")
        return {"train": found["train"], **{ours: found[theirs] for ours, theirs in renamed.items()}}

    def carry_columns(self, names: Sequence[str]) -> None:
        """Lets columns of the user's follow their rows into the splits, as `carried_column(name)`. To be called before rows are read."""
        self._carried = tuple(names)

    @cached_property
    def splits(self) -> dict[str, pa.Table]:
        """`train`, `validation`, `test` and further test sets, in the task's own columns."""
        task = self.task
        _reject_path(self.task)
        found = task.read_parts()
        hidden = [name for name in found if name not in ("all", "train") and self._hides_labels(found[name], found)]
        if hidden:
            log.info(f"{self.source}: the {', '.join(hidden)} rows have no labels and are left out")
        if task.path and not task.published.folder and task.table.roles:
            self._columns_remark = self._describe(found["train"] if "train" in found else next(iter(found.values())))
        parts = {
            name: self._with_carried(table, task.normalized(name, table))
            for name, table in found.items()
            if name not in hidden
        }
        self._reject_different_columns(parts)
        splits = self._split(parts)
        train = splits["train"]
        if 0 < task.rows < train.num_rows:
            train = sample_rows(train, task.rows, task.table.sample_by, task.table.stratify_by)
        if isinstance(task, AddsTrainRows):
            train = pa.concat_tables([train, task.extra_rows(train)])
        return {**splits, "train": train}

    @property
    def has_class_labels(self) -> bool:
        return issubclass(ANSWERS.load(self.task.answer, AnswerType), Label | Labels)

    @property
    def tests(self) -> list[str]:
        """Splits to be scored on; the first is the main one."""
        return ["test", *(part for part in self.splits if part not in SPLITS)]

    def remarks(self) -> list[str]:
        """What a user should know about the rows before any work: how columns are read, labels that are not tested, rows of
        a given split that are train rows too, texts with different labels."""
        _ = self.splits
        texts = (self._columns_remark, self._rare_remark, self._overlap, self._contradictions(self.splits))
        own = [f"{self.source}: {text}" for text in texts if text]
        return [*own, *self.task.extra_remarks()] if isinstance(self.task, ReadsOtherFiles) else own

    @property
    def caveats(self) -> str:
        """What readers of scores must know."""
        tested = self._contradictions({part: self.splits[part] for part in self.tests})
        limit = f"{tested}; no model answers all of them as labelled." if tested else ""
        return " ".join(
            text for text in (self.task.published.caveat, self._overlap, limit, self.task.scorer.note()) if text
        )

    def fingerprint(self) -> str:
        """Changes when the rows, their order, or how they are read changes."""
        task = self.task
        settings = task.model_dump(exclude={"path", *task.table.path_settings})
        digests = {part: digest(table) for part, table in self.splits.items()}
        own = fingerprint([type(task).__name__, settings, task.labels, digests])
        return fingerprint([own, task.extra_digest()]) if isinstance(task, ReadsOtherFiles) else own

    def columns(self, table: pa.Table) -> Columns:
        """Role → column: as published, as the user named them, or guessed."""
        task = self.task
        if task.published.columns:
            self.require_columns(table, list(task.published.columns.values()))
            return dict(task.published.columns)
        named = {role: getattr(task, role) for role in task.table.roles if getattr(task, role)}
        missing = [
            f"{self.source}: has no column '{column}'{did_you_mean(column, table.column_names)} (set data.{role})"
            for role, names in named.items()
            for column in each_of(names, table)
            if column not in table.column_names
        ]
        if missing:
            raise InputError(missing)
        if len(named) == len(task.table.roles):
            return named
        guessed = guess_columns(
            table, {role: ",".join(each_of(names, table)) for role, names in named.items()}, task.table.layout
        )
        return {role: column for role, column in guessed.columns.items() if role in task.table.roles}

    def require_columns(self, table: pa.Table, columns: Sequence[str]) -> None:
        missing = [name for name in columns if name not in table.column_names]
        if missing:
            raise InputError(
                f"{self.source}: has no column '{missing[0]}', which task '{self.task.name}' reads (there is: {', '.join(table.column_names)})"
            )

    def reject_empty(self, part: str, table: pa.Table) -> None:
        """Rejects empty cells. The columns of the table have the user's names."""
        empty = {name: count for name, count in empty_cells(table, table.column_names).items() if count}
        if empty:
            named = ", ".join(f"'{name}' {count}" for name, count in empty.items())
            where = "" if part == "all" else f"in the {part} rows "
            raise InputError(f"{self.source}: empty cells {where}({named}); fill them or drop their rows")

    @cached_property
    def _overlap(self) -> str:
        train, found = self.splits["train"], []
        for part in self._given:
            rows = self.splits[part]
            shared = shared_rows(rows, train, [name for name in INPUT_COLUMNS if name in rows.column_names])
            if shared:
                found.append(f"{shared} of the {rows.num_rows} {part} rows")
        return f"{', '.join(found)} stand in the train rows too; a score on them says little." if found else ""

    def _contradictions(self, parts: Mapping[str, pa.Table]) -> str:
        return contradictions(parts, INPUT_COLUMNS) if self.has_class_labels else ""

    def _with_carried(self, given: pa.Table, own: pa.Table) -> pa.Table:
        """The task's own columns of some rows, and those that are carried along."""
        for name in self._carried:
            if name not in given.column_names:
                raise InputError(f"{self.source}: has no column '{name}'{did_you_mean(name, given.column_names)}")
            if given.num_rows != own.num_rows:
                raise InputError(
                    f"{self.source}: task '{self.task.name}' leaves out rows, so column '{name}' cannot follow them; drop rows without words first"
                )
            own = own.append_column(carried_column(name), given.column(name))
        return own

    def _describe(self, table: pa.Table) -> str:
        task = self.task
        takes_pairs = "second" in task.table.roles
        return f"{task.name}, {describe_columns(self.columns(table), table, takes_pairs, task.table.optional)}"

    def _split(self, parts: dict[str, pa.Table]) -> dict[str, pa.Table]:
        task, by_text = self.task, self.task.table.group_by_text
        if self.whole and [*parts] == ["all"]:
            return {"train": parts["all"], **{part: parts["all"].slice(0, 0) for part in ("validation", "test")}}
        try:
            arranged = make_splits(
                parts, "text", task.table.stratify_by, task.validation, task.test, "text" if by_text else ""
            )
        except InputError as error:
            raise InputError(f"{self.source}: {error}") from None
        shares = {"validation": task.validation, "test": task.test}
        reject_too_few_rows(self.source, parts, arranged, shares, by_text)
        splits, rare = keep_rare_labels(arranged) if self.has_class_labels else (arranged.parts, [])
        self._rare_remark = rare_remark(rare)
        self._given = tuple(part for part, name in arranged.origin.items() if name and part != "train")
        return splits

    def _reject_different_columns(self, parts: dict[str, pa.Table]) -> None:
        """A second text in one part only would make two tasks of one."""
        first, *others = parts.items()
        for name, table in others:
            different = sorted(set(first[1].column_names) ^ set(table.column_names))
            if different:
                lacking = name if different[0] in first[1].column_names else first[0]
                raise InputError(
                    f"{self.source}: the {lacking} rows have no column for '{different[0]}', which others have; give all parts the same columns"
                )

    def _hides_labels(self, table: pa.Table, parts: dict[str, pa.Table]) -> bool:
        """Some data sets publish test rows with -1 as the label, or without a label column."""
        if "label" not in self.task.table.roles:
            return False
        try:
            return not has_labels(table, self.columns(table)["label"])
        except InputError:
            if "train" not in parts or self.columns(parts["train"])["label"] in table.column_names:
                raise
            return True


def _reject_path(task: "Task") -> None:
    """Tasks with embedded rows name the task that reads the user's."""
    if task.published.embedded and task.path:
        bases = [base for base in type(task).__mro__ if getattr(base, "published", None) == Published()]
        name = bases[0].__module__.rpartition(".")[2]
        raise InputError(f"data.path: task '{task.name}' has rows of its own; take task '{name}' for yours")
