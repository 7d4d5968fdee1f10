"""COGS (Kim and Linzen 2020): logical forms of sentences; a second test asks for what no train sentence was built like."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import Value
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data import dataset_files
from niwaki.data.folders import READERS
from niwaki.tasks._declarations import Published
from niwaki.tasks._formula_task import FormulaScorer, FormulaTask
from niwaki.tasks._notation import Notation

GENERAL = "gen"
CATEGORIES = (
    "active_to_passive",
    "cp_recursion",
    "do_dative_to_pp_dative",
    "obj_omitted_transitive_to_transitive",
    "obj_pp_to_subj_pp",
    "obj_to_subj_common",
    "obj_to_subj_proper",
    "only_seen_as_transitive_subj_as_unacc_subj",
    "only_seen_as_unacc_subj_as_obj_omitted_transitive_subj",
    "only_seen_as_unacc_subj_as_unerg_subj",
    "passive_to_active",
    "pp_dative_to_do_dative",
    "pp_recursion",
    "prim_to_inf_arg",
    "prim_to_obj_common",
    "prim_to_obj_proper",
    "prim_to_subj_common",
    "prim_to_subj_proper",
    "subj_to_obj_common",
    "subj_to_obj_proper",
    "unacc_to_transitive",
)
OTHER = -1
COLUMNS = ["sentence", "logical_form", "category"]


class Cogs(FormulaTask):
    max_new_tokens: int = setting(512, "most tokens that are written; the deepest of `gen` have 480", ge=1, le=100_000)

    published: ClassVar[Published] = Published(
        "cogs",
        columns={"text": "sentence", "target": "logical_form"},
        caveat="The test is of the train rows' own kind; `gen`, reported next to it, is what the set was made for.",
    )
    description: ClassVar[str] = "the logical form of a sentence"

    @property
    def formula_notation(self) -> Notation:
        return "clauses"

    def read_parts(self) -> dict[str, pa.Table]:
        """Train, dev, test, and `gen` as a further test."""
        folder = Path(self.data.source).expanduser()
        found = {part: table for part, table in dataset_files.read_splits(folder).items() if part != "all"}
        general = next((path for suffix in READERS if (path := folder / f"{GENERAL}{suffix}").is_file()), None)
        missing = "train" if "train" not in found else GENERAL if general is None else ""
        if missing or general is None:
            raise InputError(f"{folder}: has no {missing} rows, which task '{self.name}' needs")
        return {part: headed(table) for part, table in {**found, GENERAL: dataset_files.read_table(general)}.items()}

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        self.data.require_columns(table, COLUMNS)
        place = compute.index_in(table.column("category").cast(pa.string()), pa.array(CATEGORIES))
        return super().normalized(part, table).append_column("category", compute.fill_null(place, OTHER))

    @cached_property
    def scorer(self) -> "CogsScorer":
        return CogsScorer(self)


class CogsScorer(FormulaScorer):
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether the formula is correct, and the number of its category."""
        return np.column_stack([super().example_stats(values, rows), rows.column("category").to_numpy()])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        """Exact match; for rows of several categories, also that of each category."""
        right, place = example_stats[:, 0], example_stats[:, 1].astype(int)
        scores = {"exact": float(right.mean())}
        there = np.unique(place)
        if len(there) < 2:
            return scores
        return scores | {
            f"exact_{CATEGORIES[number]}": float(right[place == number].mean()) for number in there if number != OTHER
        }


def headed(table: pa.Table) -> pa.Table:
    """Rows of the set's own files, which have no header: what was taken for one is the first of them."""
    if table.num_columns != len(COLUMNS) or set(table.column_names) & set(COLUMNS):
        return table
    first = pa.table({name: [cell] for name, cell in zip(COLUMNS, table.column_names, strict=True)})
    return pa.concat_tables([first, table.rename_columns(COLUMNS)])
