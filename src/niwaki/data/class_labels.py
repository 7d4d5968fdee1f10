"""The label names of a `datasets.Dataset`, which stores labels as numbers."""

from collections.abc import Mapping

import pyarrow as pa
from pyarrow import compute


def with_label_names(table: pa.Table, features: Mapping[str, object]) -> pa.Table:
    """The table with names in the place of numbers in ClassLabel columns, and in columns of lists of ClassLabel."""
    for number, name in enumerate(table.column_names):
        feature = features[name]
        if names := label_names(feature):
            table = table.set_column(number, name, names_of(table.column(name), names))
        elif names := label_names(getattr(feature, "feature", None)):
            chunks = [names_in_lists(chunk, names) for chunk in table.column(name).chunks]
            table = table.set_column(number, name, pa.chunked_array(chunks, pa.list_(pa.string())))
    return table


def label_names(feature: object) -> list[str]:
    """The names of a ClassLabel; none of other features."""
    return list(getattr(feature, "names", None) or []) if type(feature).__name__ == "ClassLabel" else []


def names_of(numbers: pa.Array | pa.ChunkedArray, names: list[str]) -> pa.Array | pa.ChunkedArray:
    """Names of numbers; -1, which stands for an unknown label, becomes null."""
    known = compute.if_else(compute.less(numbers, 0), pa.scalar(None, numbers.type), numbers)
    return compute.take(pa.array(names, pa.string()), known)


def names_in_lists(lists: pa.ListArray, names: list[str]) -> pa.ListArray:
    whole = pa.concat_arrays([lists]) if lists.offset else lists
    return pa.ListArray.from_arrays(whole.offsets, names_of(whole.values, names), mask=whole.is_null())
