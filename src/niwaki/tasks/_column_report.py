"""Which columns of a user's file a task reads as what, and which it does not read: no column is dropped without a word."""

from collections.abc import Collection

import pyarrow as pa

from niwaki.core.advice import set_option
from niwaki.core.json_types import Json
from niwaki.data import column_contents, column_names
from niwaki.tasks._tables import each_of

SHOWN = 8


def describe_columns(columns: Json, table: pa.Table, takes_pairs: bool, optional_columns: Collection[str] = ()) -> str:
    """`text: review, label: stars; not used: id`. `optional_columns` are columns that the task reads under a fixed name."""
    read = ", ".join(
        f"{role}: {', '.join([found] if isinstance(found, str) else found)}" for role, found in columns.items()
    )
    left = unused(columns, table, optional_columns)
    return f"{read}{_remark(columns, table, left, takes_pairs)}" if left else read


def unused(columns: Json, table: pa.Table, optional_columns: Collection[str] = ()) -> list[str]:
    """Columns that are not read, in the order of the file."""
    used = {name for found in columns.values() for name in each_of(found, table)}
    return [
        name for name in table.column_names if name not in used and column_names.normalize(name) not in optional_columns
    ]


def _remark(columns: Json, table: pa.Table, left: list[str], takes_pairs: bool) -> str:
    """Names them, those first that hold texts, and says how to read one as the second text of a pair."""
    texts = _texts(table, left) if takes_pairs and "second" not in columns else []
    shown = [*texts, *(name for name in left if name not in texts)][:SHOWN]
    more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
    pairs = f" (to read pairs of texts, add {set_option('data.second', texts[0])})" if texts else ""
    return f"; not used: {', '.join(shown)}{more}{pairs}"


def _texts(table: pa.Table, columns: list[str]) -> list[str]:
    sample = column_contents.sample(table)
    return [
        name
        for name in columns
        if not column_names.is_metadata(name) and column_contents.inspect_column(sample, name).is_text
    ]
