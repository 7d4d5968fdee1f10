"""Splits made by a rule instead of a file: by a hash of the text, stratified by label, duplicates always together.

The rule for parts that no file gives, `make_splits`:

- one file: validation and test are cut from it;
- no validation file: it is cut from the train rows;
- a validation file and no test file: the validation file is the test, and validation is cut from the train rows, because
  what chooses the best weights must not also judge them;
- only test sets of other names (`validation_matched`): the first by name is the test, the others are further tests.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.data.digests import digests, label_ranks, numbered
from niwaki.data.scratch import slices, zeros
from niwaki.data.spill import gather

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class SplitTables:
    """Train, validation, test and further test sets; for each, the given part it is, or "" where it was cut from train
    rows; and the given parts that have no labels and are left out."""

    parts: dict[str, pa.Table]
    origin: dict[str, str]
    unlabelled_splits: list[str]


def make_splits(
    parts: Mapping[str, pa.Table],
    text: str,
    label: str,
    validation: float,
    test: float,
    group: str = "",
    stratify: bool = True,
) -> SplitTables:
    """Given parts to those that a task needs, by the rule above. `validation` and `test` are shares of the rows; a label
    that is a measure, and not one of a few, is not for stratifying."""
    judges = {name: table for name, table in parts.items() if name not in ("all", "train")}
    hidden = [name for name, table in judges.items() if label and not has_labels(table, label)]
    origin = origins([name for name in parts if name not in hidden])
    validation, test = 0.0 if origin["validation"] else validation, 0.0 if origin["test"] else test
    cut = split_by_hash(parts[origin["train"]], text, label if stratify else "", validation, test, group)
    tables = {part: parts[name] if part != "train" and name else cut[part] for part, name in origin.items()}
    return SplitTables(tables, origin, hidden)


def origins(given: Collection[str]) -> dict[str, str]:
    """Part → the given part it is; "" for those that are cut from the train rows."""
    if "all" in given:
        return {"train": "all", "validation": "", "test": ""}
    if "train" not in given:
        raise InputError(f"the rows have no part 'train'; there is: {', '.join(given) or 'none'}")
    further = sorted(name for name in given if name not in SPLITS)
    tests = [name for name in further if name.lower().startswith("test")]
    test = next((name for name in ("test", *tests, "validation", *further) if name in given), "")
    validation = "validation" if "validation" in given and test != "validation" else ""
    usual = {"train": "train", "validation": validation, "test": test}
    return usual | {name: name for name in further if name != test}


def has_labels(table: pa.Table, label: str) -> bool:
    """Whether any row has one: hidden test sets leave the column out, empty, or at -1 throughout."""
    if label not in table.column_names:
        return False
    column = table.column(label)
    if pa.types.is_nested(column.type):
        return column.null_count < len(column)
    values = compute.unique(column)
    return len(values) > 2 or any(str(value) not in ("None", "-1", "-1.0", "") for value in values)


def split_by_hash(
    table: pa.Table, text: str, label: str, validation: float, test: float, group: str = ""
) -> dict[str, pa.Table]:
    """Cuts each label's texts, in the order of their hashes, at the given shares. The same rows give the same split,
    whatever their order; rows with the same text fall into the same part. Without `label`, all texts are one list. With
    `group`, rows with the same group fall together and the shares are of rows, as near as whole groups come."""
    codes = split_codes(table, text, label, validation, test, group)
    return {part: rows_of(table, codes, code) for code, part in enumerate(SPLITS)}


def split_codes(table: pa.Table, text: str, label: str, validation: float, test: float, group: str = "") -> np.ndarray:
    """The part of each row, as its place in PARTS. What is kept of each row, some 40 bytes, lies on disk where it is much."""
    count, place = numbered(*digests(table.column(group or text)))  # texts in the order of their hashes
    if group:
        return take(by_rows(np.bincount(place, minlength=count), validation, test), place)
    smallest = smallest_ranks(table.column(label), count, place) if label else zeros(count, np.int32)
    parts = by_texts(smallest, validation, test)
    if any(share and not has(parts, code) for code, share in ((1, validation), (2, test))):
        parts = by_texts(zeros(count, np.int32), validation, test)  # labels too rare to give each a share
    return take(parts, place)


def smallest_ranks(labels: pa.ChunkedArray, count: int, place: np.ndarray) -> np.ndarray:
    """Of each text the rank of its label; one with several labels counts under the smallest."""
    ranks, smallest = label_ranks(labels), zeros(count, np.int32)
    smallest[:] = np.iinfo(np.int32).max
    for piece in slices(len(place)):
        np.minimum.at(smallest, place[piece], ranks[piece])
    return smallest


def take(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    found = zeros(len(places), values.dtype)
    for piece in slices(len(places)):
        found[piece] = values[places[piece]]
    return found


def has(values: np.ndarray, value: int) -> bool:
    return any((values[piece] == value).any() for piece in slices(len(values)))


def by_texts(label_of: np.ndarray, validation: float, test: float) -> np.ndarray:
    """Parts of texts that come in the order of their hashes: of each label the first for the test, then validation."""
    labels = int(label_of.max(initial=-1)) + 1
    sizes = sum((np.bincount(label_of[piece], minlength=labels) for piece in slices(len(label_of))), np.zeros(labels))
    test_ends, validation_ends = np.rint(sizes * test), np.rint(sizes * (test + validation))
    parts, seen = zeros(len(label_of), np.int8), np.zeros(labels, dtype=np.int64)
    for piece in slices(len(label_of)):
        its = label_of[piece]
        within = seen[its] + places_within(its)
        parts[piece] = np.where(within < test_ends[its], 2, np.where(within < validation_ends[its], 1, 0))
        seen += np.bincount(its, minlength=labels)
    return parts


def places_within(label_of: np.ndarray) -> np.ndarray:
    """Of each, how many before it have the same label."""
    order, sizes = np.argsort(label_of, kind="stable"), np.bincount(label_of)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places


def by_rows(sizes: np.ndarray, validation: float, test: float) -> np.ndarray:
    """Parts of groups that come in the order of their hashes: each lies where the middle of its rows lies."""
    middle = (np.cumsum(sizes) - sizes / 2) / max(1, sizes.sum())
    return np.where(middle < test, 2, np.where(middle < test + validation, 1, 0)).astype(np.int8)


def rows_of(table: pa.Table, codes: np.ndarray, code: int) -> pa.Table:
    """The rows of one part in their order; many of them in a mapped file."""
    if all((codes[piece] == code).all() for piece in slices(len(codes))):
        return table
    batches = table.to_batches()
    starts = np.cumsum([0, *(batch.num_rows for batch in batches)])
    selected = (
        batch.filter(pa.array(codes[start : start + batch.num_rows] == code))
        for batch, start in zip(batches, starts[:-1], strict=True)
    )
    return gather((batch for batch in selected if batch.num_rows), schema=table.schema)
