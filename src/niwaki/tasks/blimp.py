"""Minimal pairs: is the grammatical sentence likelier than the other one? BLiMP (Warstadt et al. 2020), or any file in its format."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Input, Value
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data import dataset_files
from niwaki.data.column_names import normalize
from niwaki.tasks._data import TaskData
from niwaki.tasks._declarations import Published, TableFormat
from niwaki.tasks._language_model_task import LanguageModelTask
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._tables import as_text

COLUMNS = {
    "good": ("sentence_good",),
    "bad": ("sentence_bad",),
    "paradigm": ("uid", "paradigm"),
    "phenomenon": ("phenomenon", "linguistics_term"),
}  # role → its names in published files
SHOWN_ROWS = 500  # of the splits that nothing is trained on


class Blimp(LanguageModelTask):
    rows: int = setting(0, "pairs to score, spread evenly over the file; 0 takes all", ge=0)

    table: ClassVar[TableFormat] = TableFormat("minimal_pairs", ("text",))
    published: ClassVar[Published] = Published(columns={"text": "text"}, folder="blimp")
    metric: ClassVar[str] = "accuracy"  # mean over paradigms; ties count 1/2
    description: ClassVar[str] = "which sentence of a pair is likelier"

    @cached_property
    def data(self) -> "PairData":
        return PairData(self)

    def read_parts(self) -> dict[str, pa.Table]:
        found = dataset_files.read_splits(self.data.source)
        return {"test": pa.concat_tables(self.normalized(part, table) for part, table in found.items())}

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        names = {normalize(name): name for name in reversed(table.column_names)}
        found = {
            role: next((names[name] for name in map(normalize, known) if name in names), "")
            for role, known in COLUMNS.items()
        }
        for role in ("good", "bad"):
            if not found[role]:
                raise InputError(
                    f"{self.data.source}: has no column '{COLUMNS[role][0]}' (there is: {', '.join(table.column_names)})"
                )
        texts = {role: as_text(table, name, self.data.source) for role, name in found.items() if name}
        self.data.reject_empty(part, pa.table({found[role]: column for role, column in texts.items()}))
        paradigm = texts.get("paradigm", pa.array(["all"] * table.num_rows))
        return pa.table(
            {
                "text": texts["good"],
                "second": texts["bad"],
                "paradigm": paradigm,
                "phenomenon": texts.get("phenomenon", paradigm),
            }
        )

    def inputs(self, rows: pa.Table) -> list[Input]:
        return list(zip(rows.column("text").to_pylist(), rows.column("second").to_pylist(), strict=True))

    @cached_property
    def scorer(self) -> "PairScorer":
        return PairScorer(self)


class PairData(TaskData):
    """All pairs are the test; nothing is trained on them."""

    @cached_property
    def splits(self) -> dict[str, pa.Table]:
        test, wanted = self.task.read_parts()["test"], self.task.rows
        if 0 < wanted < test.num_rows:
            test = test.take(np.linspace(0, test.num_rows - 1, wanted).round().astype(np.int64))
        some = test.slice(0, SHOWN_ROWS)
        return {"train": some, "validation": some, "test": test}


class PairScorer(Scorer[Blimp]):
    @cached_property
    def _paradigms(self) -> dict[str, str]:
        """Paradigm → phenomenon, in the order of their names."""
        test = self.task.splits()["test"].select(["paradigm", "phenomenon"])
        return dict(sorted(zip(*(column.to_pylist() for column in test.columns), strict=True)))

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """(rows, 2): 1, 1/2 for a tie, or 0; and the number of the paradigm."""
        good, bad = (np.array([pair[text][0] for pair in values], dtype=np.float64) for text in (0, 1))
        number = {name: place for place, name in enumerate(self._paradigms)}
        paradigms = [number[name] for name in rows.column("paradigm").to_pylist()]
        return np.stack([(good > bad) + 0.5 * (good == bad), np.array(paradigms, dtype=np.float64)], axis=1)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        """Means over paradigms: of all, and of each phenomenon."""
        paradigms = example_stats[:, 1].astype(np.int64)
        count = np.bincount(paradigms, minlength=len(self._paradigms))
        mean = np.bincount(paradigms, example_stats[:, 0], len(self._paradigms)) / np.maximum(count, 1)
        kinds = np.array(list(self._paradigms.values()))
        found = {"accuracy": float(mean[count > 0].mean())}
        if len(set(kinds)) > 1:
            found |= {
                kind: float(mean[here].mean())
                for kind in sorted(set(kinds))
                if (here := (kinds == kind) & (count > 0)).any()
            }
        return found

    def parse_value(self, cell: object) -> Value:
        """[log-likelihood of the good sentence, of the bad one]."""
        if not isinstance(cell, list) or len(cell) != 2:
            raise TypeError(f"{type(cell).__name__} is not a pair of log-likelihoods")
        return [[float(one), 0] for one in cell]
