"""Data in memory as the tables that the file readers produce: frames, datasets, lists, dicts, or texts and labels.

Objects of other libraries are recognized by the name of their class. None of those libraries is imported.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from niwaki.core.errors import InputError, first_line
from niwaki.data.class_labels import with_label_names
from niwaki.data.dataset_files import read_splits
from niwaki.data.folders import split_of
from niwaki.data.object_columns import (
    BATCH_ROWS,
    DATA,
    Columns,
    Foreign,
    check_type,
    is_missing,
    joined,
    reject_names,
    to_arrow,
)
from niwaki.data.parquet import plain

TEXT, SECOND, LABEL = "text", "second", "label"  # the columns that texts and labels without names get
SUPPORTED = "give a path, a DataFrame, a Dataset, a list of dicts, a list of texts, or texts and y"
CLASSES = (
    "pandas.DataFrame",
    "pandas.Series",
    "pandas.Index",
    "polars.DataFrame",
    "polars.LazyFrame",
    "polars.Series",
    "datasets.Dataset",
    "datasets.DatasetDict",
    "datasets.IterableDataset",
    "datasets.IterableDatasetDict",
    "numpy.ndarray",
    "pyarrow.Table",
    "pyarrow.RecordBatch",
)
FIXES = {
    "polars.LazyFrame": "is a LazyFrame, which holds no rows yet; pass data.collect()",
    "datasets.IterableDataset": "is a streamed dataset; load it without streaming=True",
    "datasets.IterableDatasetDict": "is a streamed dataset; load it without streaming=True",
}
SERIES = ("pandas.Series", "pandas.Index", "polars.Series", "numpy.ndarray")


def to_splits(data: object, y: object = None) -> dict[str, pa.Table]:
    """Split → rows. Rows that are not divided into splits are `all`, as those of a single file are.

    `data` is a path, a pandas or polars DataFrame, a `datasets.Dataset` or `DatasetDict`, a pyarrow table, a list of dicts, a dict of
    columns, a dict of splits, or texts (list, Series, array). `y` holds the labels of texts or of a table without a label column.
    """
    if isinstance(data, str | Path):
        return path_splits(data, y)
    splits = divided(data)
    if splits is None:
        return {"all": one_table(data, y)}
    if y is not None:
        raise InputError("y: labels of data that is divided into splits belong into its columns; leave y out")
    return {name: one_table(rows, None) for name, rows in splits.items()}


def to_table(data: object, y: object = None) -> pa.Table:
    """The rows of data that is one table; see `to_splits` for what `data` may be."""
    splits = to_splits(data, y)
    if len(splits) > 1:
        raise InputError(f"{DATA}: has the splits {', '.join(splits)}; give one of them")
    return next(iter(splits.values()))


def to_inputs(data: object) -> list[str] | list[tuple[str, str]]:
    """Texts, or pairs of texts from two columns, without labels: what models predict from."""
    if isinstance(data, str | Path | Mapping):
        raise InputError(
            f"{DATA}: must be a list of texts (given: {type(data).__name__}); put a single text into a list"
        )
    kind = class_of(data)
    if kind in FIXES or not (kind or isinstance(data, list | tuple)):
        raise InputError(f"{DATA}: {FIXES.get(kind) or unsupported(data, 'give a list of texts')}")
    is_arrow = kind in ("datasets.Dataset", "pyarrow.Table", "pyarrow.RecordBatch")
    table = (
        arrow_table(data, kind)
        if is_arrow
        else to_arrow(columns := columns_of(data, kind, True), names_of(columns, data))
    )
    if table.num_columns > 2:
        raise InputError(
            f"{DATA}: has the columns {', '.join(table.column_names[:8])}; keep one of texts, or two of pairs"
        )
    texts = [checked_text(table, name).to_pylist() for name in table.column_names]
    return texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))


def path_splits(path: str | Path, y: object) -> dict[str, pa.Table]:
    if not str(path).strip():
        raise InputError(f"{DATA}: is an empty text; {SUPPORTED}")
    if y is not None:
        raise InputError("y: labels of a file belong into one of its columns; leave y out, or pass a list of texts")
    try:
        return read_splits(path)
    except (OSError, ValueError) as error:  # a name that no file system takes
        raise InputError(f"{str(path)[:80]}: is not a path ({first_line(error)}); {SUPPORTED}") from None


def class_of(value: object) -> str:
    """`pandas.DataFrame` for an object of that class or of a subclass; "" for objects of other libraries."""
    names = (f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(value).__mro__)
    return next((name for name in names if name in CLASSES), "")


def divided(data: object) -> Mapping[str, object] | None:
    """The splits of a DatasetDict, or of a dict whose keys are all names of splits."""
    if not isinstance(data, Mapping) or not data or class_of(data) in FIXES:
        return None
    names = {key: split_of(key) if isinstance(key, str) else "" for key in data}
    if class_of(data) != "datasets.DatasetDict" and not all(names.values()):
        return None
    found = {names[key]: rows for key, rows in data.items() if names[key]}
    if "train" not in found:
        raise InputError(f"{DATA}: has no split 'train'; there is: {', '.join(map(str, data))}")
    if len(found) < sum(map(bool, names.values())):
        raise InputError(f"{DATA}: two splits have the same role ({', '.join(map(str, data))}); keep one of each")
    return found


def one_table(data: object, y: object) -> pa.Table:
    if (kind := class_of(data)) in FIXES:
        raise InputError(f"{DATA}: {FIXES[kind]}")
    if y is None:
        return labelled(data, None)
    return labelled(data, label_values(y))


def labelled(data: object, y: Foreign) -> pa.Table:
    """The rows of `data` with the labels as a further column."""
    kind = class_of(data)
    if kind in ("datasets.Dataset", "pyarrow.Table", "pyarrow.RecordBatch"):
        table = arrow_table(data, kind)
        columns: Columns = {name: table.column(name) for name in table.column_names}
    else:
        table, columns = None, columns_of(data, kind, paired=y is not None)
    if y is None:
        return table if table is not None else checked_texts(to_arrow(columns, names_of(columns, data)), data)
    if LABEL in columns:
        raise InputError(f"{DATA}: has a column '{LABEL}', and y is given too; leave one of them out")
    with_labels = to_arrow({**columns, LABEL: y}, {**names_of(columns, data), LABEL: "y"})
    if with_labels.column(LABEL).null_count:
        raise InputError(f"y: {missing_cells(with_labels, LABEL)}; drop them and their texts")
    return checked_texts(with_labels, data)


def names_of(columns: Columns, data: object) -> dict[str, str]:
    """What messages call the columns of texts that come without column names."""
    return dict.fromkeys(columns, DATA) if is_texts(data) else {}


def is_texts(data: object) -> bool:
    """Whether the data is a list of texts, or of pairs of texts, and not a table."""
    listed = isinstance(data, list | tuple) and not (data and isinstance(first_value(data), Mapping))
    return listed or class_of(data) in SERIES


def checked_texts(table: pa.Table, data: object) -> pa.Table:
    """The table, or InputError if a list of texts holds something else."""
    for name in (TEXT, SECOND) if is_texts(data) else ():
        if name in table.column_names:
            checked_text(table, name)
    return table


def checked_text(table: pa.Table, name: str) -> pa.ChunkedArray:
    column = table.column(name)
    if column.null_count:
        raise InputError(f"{DATA}: {missing_cells(table, name)}; drop them or fill them with text")
    if not pa.types.is_string(column.type):
        raise InputError(f"{DATA}: holds {column.type} values where texts (str) are needed; convert them to text")
    return column


def missing_cells(table: pa.Table, name: str) -> str:
    column = table.column(name)
    return f"{column.null_count} values are missing (None or NaN), the first at index {column.is_null().index(True).as_py()}"


def columns_of(data: object, kind: str, paired: bool) -> Columns:
    """Name → values, of everything that Arrow does not read by itself. `paired`: two texts of a row are a pair of texts."""
    if kind in ("pandas.DataFrame", "polars.DataFrame"):
        return frame_columns(data)
    if isinstance(data, Mapping):
        return data
    if kind in SERIES:
        return array_columns(data, paired)
    if isinstance(data, list | tuple):
        return list_columns(data, paired)
    raise InputError(f"{DATA}: {unsupported(data)}")


def unsupported(data: object, fix: str = SUPPORTED) -> str:
    if isinstance(data, Iterator):
        return f"is a {type(data).__name__}, which can be read only once; pass list(data)"
    if isinstance(data, set | frozenset):
        return "is a set, which has no order; pass sorted(data)"
    return f"cannot be read (type {type(data).__name__}); {fix}"


def frame_columns(frame: Foreign) -> Columns:
    names = list(frame.columns)
    reject_names(names)
    pandas = hasattr(frame, "iloc")
    return {name: frame.iloc[:, k] if pandas else frame.get_column(name) for k, name in enumerate(names)}


def array_columns(values: Foreign, paired: bool) -> Columns:
    """Texts in one dimension, or in a column; with labels also pairs of texts in two columns."""
    shape = tuple(values.shape)
    if len(shape) == 1:
        return list_columns(values.tolist(), paired) if holds_rows(values) else {TEXT: values}
    if len(shape) == 2 and shape[1] in ((1, 2) if paired else (1,)):
        return dict(zip((TEXT, SECOND), (values[:, k] for k in range(shape[1])), strict=False))
    raise InputError(f"{DATA}: is an array of shape {shape}; give one text for each row")


def holds_rows(values: Foreign) -> bool:
    first = first_value(values.tolist()) if str(values.dtype).lower() == "object" else None
    return isinstance(first, Mapping | list | tuple)


def list_columns(rows: Sequence[Foreign], paired: bool) -> Columns:
    """The columns of a list of dicts, of pairs of texts, or of texts."""
    if not len(rows):
        raise InputError(f"{DATA}: has no rows")
    first = first_value(rows)
    if isinstance(first, Mapping):
        return dict_columns(rows)
    if not isinstance(first, list | tuple):
        return {TEXT: rows}
    if not paired:
        raise InputError(
            f"{DATA}: its rows are of type {type(first).__name__}; give dicts such as {{'text': ..., 'label': ...}}, or texts and y"
        )
    wrong = next((k for k, row in enumerate(rows) if not isinstance(row, list | tuple) or len(row) != 2), None)
    if wrong is not None:
        raise InputError(f"{DATA}: item {wrong} is not a pair of texts, as the first is; give two texts for each row")
    return {TEXT: [row[0] for row in rows], SECOND: [row[1] for row in rows]}


def first_value(rows: Sequence[object]) -> object:
    return next((row for row in rows if not is_missing(row)), None)


def dict_columns(rows: Sequence[Foreign]) -> Columns:
    """The columns of a list of dicts. A key that a row lacks is a missing value."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(
                f"{DATA}: item {number} is of type {type(row).__name__}, and others are dicts; give dicts only"
            )
    names = list(dict.fromkeys(name for row in rows for name in row))
    reject_names(names)
    return {name: [row.get(name) for row in rows] for name in names}


def label_values(y: object) -> Foreign:
    """Labels in one dimension: a list, an array, a Series, or a frame of one column."""
    kind = class_of(y)
    if kind in ("pandas.DataFrame", "polars.DataFrame") and len(columns := [*frame_columns(y).values()]) == 1:
        return columns[0]
    if kind == "numpy.ndarray" and getattr(y, "ndim", 1) == 2 and getattr(y, "shape", (0, 0))[1] == 1:
        return y.ravel()  # type: ignore[attr-defined]
    if kind in SERIES and len(getattr(y, "shape", ())) == 1:
        return y
    if isinstance(y, list | tuple):
        return y
    shape = f", shape {tuple(y.shape)}" if hasattr(y, "shape") else ""
    raise InputError(
        f"y: must be a list of one label for each text (given: {type(y).__name__}{shape}); several labels of a text are a list of names"
    )


def arrow_table(data: Foreign, kind: str) -> pa.Table:
    """A datasets.Dataset with its label names, or a pyarrow table, in the types that the file readers produce."""
    schema = data.features.arrow_schema if kind == "datasets.Dataset" else data.schema
    reject_names(schema.names)
    for field in schema:
        check_type(f"{DATA}: column '{field.name}'", field.type)
    if kind == "datasets.Dataset":
        found = (with_label_names(table, data.features) for table in data.with_format("arrow").iter(BATCH_ROWS))
        return joined(batch for table in found for batch in plain(table).to_batches())
    table = pa.Table.from_batches([data]) if kind == "pyarrow.RecordBatch" else data
    return joined(plain(batch) for batch in table.to_batches(max_chunksize=BATCH_ROWS))
