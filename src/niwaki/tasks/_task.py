"""What every task can do: give its rows, turn them into features, a loss and scores.

A task reads tables, of whatever columns, into rows with columns of its own names (`roles`); all else is said of those.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pydantic import ConfigDict
from tokenizers import Tokenizer
from torch import Tensor

from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value
from niwaki.core import log
from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.files import fingerprint
from niwaki.core.settings import Settings, setting
from niwaki.data import dataset_files
from niwaki.data.cells import empty_cells
from niwaki.data.columns import guess_columns
from niwaki.data.overlap import shared_rows
from niwaki.data.ragged import Ragged
from niwaki.data.splits import SPLITS, has_labels, make_splits
from niwaki.models.forward import Batch
from niwaki.models.head import Head
from niwaki.tasks._column_report import describe_columns
from niwaki.tasks._splitting import keep_rare_labels, rare_remark, reject_too_few_rows, sample_rows
from niwaki.tasks._tables import digest, each_of, row_slices

NO_LABEL = -100
ASKED = ("text", "second", "question", "context", "endings")  # columns of tasks that hold what is asked


@dataclass(frozen=True)
class Features:
    """Rows ready for a network, with their targets: (rows, …), or ragged like the tokens; NO_LABEL where there is none."""

    rows: EncodedInputs
    targets: np.ndarray | Ragged

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each row, read or to be written; of several sequences that belong together, the longest one's."""
        read = self.rows.ids.lengths.reshape(-1, self.rows.group).max(axis=1)
        return np.maximum(read, self.targets.lengths) if isinstance(self.targets, Ragged) else read

    def joined(self, other: "Features") -> "Features":
        if isinstance(self.targets, Ragged) and isinstance(other.targets, Ragged):
            return Features(self.rows.joined(other.rows), self.targets.joined(other.targets))
        return Features(self.rows.joined(other.rows), np.concatenate([self.targets, other.targets]))


class Task(Settings):
    """Base of the files in `tasks/`. The fields are what a recipe may set under `[data]`."""

    model_config = ConfigDict(ignored_types=(cached_property,))

    path: str = setting("", "file, folder or Hugging Face id with the rows; a folder of tasks has one folder for each")
    validation: float = setting(0.1, "share of rows for validation, where no file gives them", gt=0, lt=0.5)
    test: float = setting(0.15, "share of rows for the test, where no file gives them", gt=0, lt=0.5)
    rows: int = setting(0, "train rows to take, drawn by their hash; 0 takes all", ge=0)
    max_tokens: int = setting(128, "texts are cut after this many tokens", ge=8, le=100_000)

    column_layout: ClassVar[str]  # what its columns are guessed by, see data/columns.py
    answer: ClassVar[str]  # the kind of answer, a file in `niwaki/answers`
    column_roles: ClassVar[tuple[str, ...]]  # settings that name columns; empty ones are guessed
    optional_columns: ClassVar[tuple[str, ...]] = ()  # columns that are read under a fixed name where a file has them
    stratify_by: ClassVar[str] = ""  # column whose values every split has in the same shares
    group_by_text: ClassVar[bool] = (
        False  # whether splits are shares of rows and not of different texts, which are then few
    )
    sample_by: ClassVar[tuple[str, ...]] = ("text",)  # columns by whose hash `rows` are drawn
    metric: ClassVar[str]  # the primary one, higher is better
    correct_columns: ClassVar[slice] = slice(
        0, 1
    )  # columns of its outcomes that hold how much is right, for that metric
    description: ClassVar[str] = ""
    caveat: ClassVar[str] = ""  # of a named task: what a reader of scores must know
    path_settings: ClassVar[tuple[str, ...]] = ()  # settings that say where something lies, as `path` does
    folder_name: ClassVar[str] = ""  # of a named task: its folder's name in a folder of tasks
    hub_id: ClassVar[str] = ""  # and its Hugging Face id
    evaluation_splits: ClassVar[
        dict[str, str]
    ] = {}  # and the part it is scored on, where that is not `test`: our name → its name

    _reading: str = ""
    _rare: str = ""  # labels that are too rare for a split
    _given: tuple[str, ...] = ()  # parts besides train that a file gives

    def set_start_model(self, folder: Path) -> None:
        """Told of the recipe's model before anything is asked: one that writes brings pieces of its own."""

    # ── rows ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def name(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    def source(self) -> str | Path:
        if not self.path and not self.hub_id:
            raise InputError(f"data.path: needed for task '{self.name}' (a file or folder with its rows)")
        if self.folder_name and self.path and (Path(self.path).expanduser() / self.folder_name).is_dir():
            return Path(self.path).expanduser() / self.folder_name
        return self.path or self.hub_id

    def parts(self) -> dict[str, pa.Table]:
        """What there is before any split is made: parts by name, or everything under `all`."""
        found = dataset_files.read_splits(self.source())
        if not self.evaluation_splits:
            return found
        missing = [theirs for theirs in ("train", *self.evaluation_splits.values()) if theirs not in found]
        if missing:
            raise InputError(f"{self.source()}: has no {missing[0]} rows, which task '{self.name}' needs")
        return {"train": found["train"], **{ours: found[theirs] for ours, theirs in self.evaluation_splits.items()}}

    def splits(self) -> dict[str, pa.Table]:
        """`train`, `validation`, `test` and further tests, each with the columns of the task. Read once per task object."""
        return self._splits

    @property
    def tests(self) -> list[str]:
        """Splits to be scored on; the first is the one that counts."""
        return ["test", *(part for part in self.splits() if part not in SPLITS)]

    @cached_property
    def _splits(self) -> dict[str, pa.Table]:
        found = self.parts()
        hidden = [name for name in found if name not in ("all", "train") and self._hides(found[name], found)]
        if hidden:
            log.info(f"{self.source()}: the {', '.join(hidden)} rows have no labels and are left out")
        if self.path and not self.folder_name:
            first = found["train"] if "train" in found else next(iter(found.values()))
            read = describe_columns(self.columns(first), first, "second" in self.column_roles, self.optional_columns)
            self._reading = f"{self.name}, {read}"
        parts = {name: self.normalized(name, table) for name, table in found.items() if name not in hidden}
        self._refuse_unlike(parts)
        try:
            arranged = make_splits(
                parts, "text", self.stratify_by, self.validation, self.test, "text" if self.group_by_text else ""
            )
        except InputError as error:
            raise InputError(f"{self.source()}: {error}") from None
        reject_too_few_rows(
            self.source(), parts, arranged, {"validation": self.validation, "test": self.test}, self.group_by_text
        )
        splits, rare = keep_rare_labels(arranged) if self.answer in ("label", "labels") else (arranged.parts, [])
        self._rare = rare_remark(rare)
        self._given = tuple(part for part, name in arranged.origin.items() if name and part != "train")
        return {**splits, "train": self.with_extra_rows(self._sample(splits["train"]))}

    def with_extra_rows(self, rows: pa.Table) -> pa.Table:
        """The train rows, with those that a task has of its own behind them."""
        return rows

    def remarks(self) -> list[str]:
        """What a user should know of the rows before any work: which columns are read as what and which are not, unless the task
        has a name and its own columns; labels that are not tested; rows of a given part that are trained on too."""
        self.splits()
        return [f"{self.source()}: {text}" for text in (self._reading, self._rare, self._overlap) if text]

    @property
    def caveats(self) -> str:
        """What a reader of scores must know."""
        return " ".join(text for text in (self.caveat, self._overlap) if text)

    @cached_property
    def _overlap(self) -> str:
        splits = self.splits()
        counts = {part: self._trained_on(splits[part]) for part in self._given}
        found = [f"{count} of the {splits[part].num_rows} {part} rows" for part, count in counts.items() if count]
        return f"{', '.join(found)} stand in the train rows too; a score on them says little." if found else ""

    def _trained_on(self, rows: pa.Table) -> int:
        return shared_rows(rows, self.splits()["train"], [name for name in ASKED if name in rows.column_names])

    def _refuse_unlike(self, parts: dict[str, pa.Table]) -> None:
        """Every part must ask the same: a second text in one and not in another is another task."""
        first, *others = parts.items()
        for name, table in others:
            unlike = sorted(set(first[1].column_names) ^ set(table.column_names))
            if unlike:
                lacking = name if unlike[0] in first[1].column_names else first[0]
                raise InputError(
                    f"{self.source()}: the {lacking} rows have no column for '{unlike[0]}', which others have; give all parts the same columns"
                )

    def _hides(self, judge: pa.Table, parts: dict[str, pa.Table]) -> bool:
        """Whether a part has no labels to be scored by: some sets put -1 in their test rows, or leave the column out."""
        if "label" not in self.column_roles:
            return False
        try:
            return not has_labels(judge, self.columns(judge)["label"])
        except InputError:
            if "train" not in parts or self.columns(parts["train"])["label"] in judge.column_names:
                raise
            return True

    def _sample(self, rows: pa.Table) -> pa.Table:
        return sample_rows(rows, self.rows, self.sample_by, self.stratify_by) if 0 < self.rows < rows.num_rows else rows

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """The columns of the task, under its own names, of the right types, with no empty cell; `text` is among them and
        decides which split a row falls into."""
        raise NotImplementedError

    def reject_empty(self, part: str, table: pa.Table) -> None:
        """The table has the columns, under the user's names, that must be filled."""
        empty = {name: count for name, count in empty_cells(table, table.column_names).items() if count}
        if empty:
            named = ", ".join(f"'{name}' {count}" for name, count in empty.items())
            where = "" if part == "all" else f"in the {part} rows "
            raise InputError(f"{self.source()}: empty cells {where}({named}); fill them or drop their rows")

    def columns(self, table: pa.Table) -> dict[str, Any]:
        """Role → column, as the user named them, else as they are guessed."""
        named = {role: getattr(self, role) for role in self.column_roles if getattr(self, role)}
        missing = [
            f"{self.source()}: has no column '{column}'{did_you_mean(column, table.column_names)} (set data.{role})"
            for role, said in named.items()
            for column in each_of(said, table)
            if column not in table.column_names
        ]
        if missing:
            raise InputError(missing)
        if len(named) == len(self.column_roles):
            return named
        found = guess_columns(
            table, {role: ",".join(each_of(said, table)) for role, said in named.items()}, self.column_layout
        )
        return {role: column for role, column in found.columns.items() if role in self.column_roles}

    # ── what the rows ask and the right answers ─────────────────────────────────────────────────────────────────────

    @property
    def labels(self) -> list[str]:
        raise NotImplementedError

    def check_model_matches(self, answer_type: AnswerType, labels: list[str], model: Path) -> None:
        """Refused where a model answers with something else than the task asks for, or with other labels."""
        if (said := answer_type.to_json()["kind"]) != self.answer:
            raise InputError(f"{model}: answers with a {said}, the task wants a {self.answer}")
        self.check_labels_match(labels, model)

    def check_labels_match(self, labels: list[str], model: Path) -> None:
        """Refused where a model was made for others than the task's."""
        if labels != self.labels:
            raise InputError(
                f"{model}: its labels are {labels[:20]}, the task's are {self.labels[:20]}; choose the task it was made for"
            )

    @cached_property
    def answer_type(self) -> AnswerType:
        return ANSWERS.load(self.answer, AnswerType)()

    @cached_property
    def head(self) -> Head:
        """What a model needs to learn the task."""
        answer_type = self.answer_type
        return Head(self.labels, answer_type.architecture, answer_type.to_json(), answer_type.problem, self.files)

    def files(self) -> dict[str, bytes]:
        """What the kind of answer needs beside the network, by the names of its `files`."""
        return {}

    def inputs(self, rows: pa.Table) -> list[Input]:
        """As the kind of answer takes them."""
        raise NotImplementedError

    def gold(self, rows: pa.Table) -> list[Value]:
        """The right answers, as plain data."""
        raise NotImplementedError

    def with_answers(self, rows: pa.Table, values: Sequence[Value]) -> pa.Table:
        """The rows with these answers in the place of the right ones."""
        raise InputError(f"task '{self.name}': its rows cannot be given a teacher's answers; distil with 'logits'")

    def texts(self, rows: pa.Table) -> Iterator[str]:
        """All that is written in the rows, for vocabularies."""
        for part in row_slices(rows):
            for given in self.inputs(part):
                yield from texts_in(given)

    def use_answer_type(self, answer_type: AnswerType) -> None:
        """Reads its targets as a saved model reads its answers: in the pieces that the model writes."""

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        inputs = (given for part in row_slices(rows) for given in self.inputs(part))
        encoded = self.answer_type.encode(inputs, tokenizer, min(self.max_tokens, max_tokens or self.max_tokens))
        return Features(encoded, self.targets(rows, encoded))

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> np.ndarray | Ragged:
        raise NotImplementedError

    def augmentable_inputs(self, rows: pa.Table) -> list[Input]:
        """The inputs, where they are texts or pairs of texts whose words may be replaced."""
        raise InputError(
            f"task '{self.name}': rows whose answers hang on single words cannot be augmented; set train.augmentations = 0"
        )

    def unlabelled_features(self, texts: Sequence[Input], tokenizer: Tokenizer, max_tokens: int) -> Features:
        """Features of texts that only a teacher has an opinion on."""
        raise NotImplementedError

    def unlabelled_texts(self, rows: int, seed: int) -> list[str]:
        """Unlabelled texts of the task's kind to distil on; a task that has none gives none."""
        return []

    # ── loss and scores ─────────────────────────────────────────────────────────────────────────────────────────────

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        raise NotImplementedError

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        """How far the logits of a student are from its teacher's."""
        raise NotImplementedError

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """(rows, …): of each answer, the numbers that scores are made of. Rows can then be drawn without looking at texts."""
        raise NotImplementedError

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        """All metrics of the task; `metric` is among them."""
        raise NotImplementedError

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        """The outcomes of the same rows if nothing in the answers were right."""
        found = example_stats.copy()
        found[:, self.correct_columns] = 0
        return found

    def tuned(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> AnswerType:
        """The kind of answer with what is chosen on the validation rows, such as a threshold."""
        return self.answer_type

    def parse_value(self, text: Any) -> Value:
        """An answer from a file of predictions."""
        return text

    def fingerprint(self) -> str:
        """Changes when the rows, their order, or what is made of them changes."""
        settings = self.model_dump(exclude={"path", *self.path_settings})  # the rows count, not where they lie
        digests = {part: digest(table) for part, table in self.splits().items()}
        return fingerprint([type(self).__name__, settings, self.labels, digests])


def texts_in(given: Input) -> Iterator[str]:
    """Every text of an input, however it is nested."""
    if isinstance(given, str):
        yield given
    else:
        for part in given:
            yield from texts_in(part)
