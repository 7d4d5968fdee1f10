"""What niwaki owes a user whose validation and test rows it cuts itself: it says how many rows that takes, and keeps labels that are
too rare for a split among the train rows."""

from collections.abc import Collection, Mapping
from math import ceil

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.data.splits import SPLITS, SplitTables, split_by_hash
from niwaki.tasks._tables import counted

LEAST = 20  # with the usual shares 3 test rows: with fewer, one answer changes a score by 50 points or more
SHOWN = 5


def reject_too_few_rows(
    source: object,
    parts: Mapping[str, pa.Table],
    arranged: SplitTables,
    shares: Mapping[str, float],
    group_by_text: bool,
) -> None:
    """Rejects rows that are too few for the parts that no file gives. `shares` are those of validation and test."""
    cut = [part for part in ("validation", "test") if not arranged.origin[part]]
    given = parts[arranged.origin["train"]]
    have = given.num_rows if group_by_text else compute.count_distinct(given.column("text")).as_py()
    needed = max([LEAST, *(ceil(1 / shares[part]) + 1 for part in cut)])
    empty = [part for part in SPLITS if arranged.parts[part].num_rows == 0]
    if (cut and have < needed) or empty:
        raise InputError(
            f"{source}: {counted(dict(parts))} are too few: niwaki cuts {_shares(cut or empty, shares)} from them, which takes at least "
            f"{needed} rows with different texts; add rows, or give a folder with a train, a validation and a test file"
        )


def _shares(cut: Collection[str], shares: Mapping[str, float]) -> str:
    return " and ".join(f"{100 * shares.get(part, 0):g} % for {part}" for part in cut)


def keep_rare_labels(arranged: SplitTables) -> tuple[dict[str, pa.Table], list[str]]:
    """The parts, where rows with a label that no train row has are train rows too, unless a file gave them; and these labels.
    Rows with the same text stay together."""
    parts = dict(arranged.parts)
    cut = [part for part in ("validation", "test") if not arranged.origin[part]]
    rare = sorted(set().union(*(_labels(parts[part]) for part in cut)) - _labels(parts["train"]))
    if not rare:
        return parts, []
    for part in cut:
        moved = _texts_with(parts[part], rare)
        inside = compute.is_in(parts[part].column("text"), moved)
        parts["train"] = pa.concat_tables([parts["train"], parts[part].filter(inside)])
        parts[part] = parts[part].filter(compute.invert(inside))
    return parts, rare


def rare_remark(rare: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in rare[:SHOWN]) + (f" and {len(rare) - SHOWN} more" * (len(rare) > SHOWN))
    return (
        f"too few rows for a split have the labels {shown}: all of them are train rows, none are tested" if rare else ""
    )


def _labels(rows: pa.Table) -> set[str]:
    column = rows.column("label")
    flat = compute.list_flatten(column) if pa.types.is_list(column.type) else column
    return set(compute.unique(flat).to_pylist())


def _texts_with(rows: pa.Table, labels: list[str]) -> pa.Array:
    """Texts of the rows that have one of the labels."""
    column, wanted = rows.column("label"), set(labels)
    has = [bool(wanted.intersection(cell if isinstance(cell, list) else [cell])) for cell in column.to_pylist()]
    return compute.unique(rows.column("text").filter(pa.array(has, pa.bool_())))


def sample_rows(rows: pa.Table, count: int, by: Collection[str], stratify_by: str) -> pa.Table:
    """About `count` of the rows, chosen by a hash of these columns; the values of `stratify_by` in the same shares."""
    key = compute.binary_join_element_wise(*(rows.column(name) for name in by), "\n")
    found = split_by_hash(rows.append_column("drawn by", key), "drawn by", stratify_by, 0.0, count / rows.num_rows)[
        "test"
    ]
    if not found.num_rows:
        raise InputError(f"data.rows: {count} of {rows.num_rows} train rows leave none; take more")
    return found.select(rows.column_names)
