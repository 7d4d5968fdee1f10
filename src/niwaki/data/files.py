"""A user's own rows: one csv, tsv, jsonl or parquet file, or a folder with one such file per split."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from niwaki.core.errors import Refused

READERS = (".csv", ".tsv", ".jsonl", ".parquet")
PARTS = ("train", "validation", "test")


def read(path: Path) -> dict[str, pa.Table]:
    """Split name → rows. One file gives the split `all`, which the task then cuts by its rule."""
    if path.is_dir():
        found = {part: file for part in PARTS for file in sorted(path.glob(f"{part}.*")) if file.suffix in READERS}
        if "train" not in found:
            raise Refused(f"{path}: has no train file ({', '.join('train' + suffix for suffix in READERS)})")
        return {part: read_table(file) for part, file in found.items()}
    return {"all": read_table(path)}


def read_table(path: Path) -> pa.Table:
    if not path.is_file():
        raise Refused(f"{path}: is not there")
    if path.suffix not in READERS:
        raise Refused(f"{path}: is of a kind that is not read; give {', '.join(READERS)}")
    try:
        table = _read(path)
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError, OSError) as error:
        raise Refused(
            f"{path}: cannot be read as {path.suffix[1:]} in UTF-8 ({str(error).splitlines()[0][:160]})"
        ) from None
    if table.num_rows == 0:
        raise Refused(f"{path}: has no rows")
    return table


def _read(path: Path) -> pa.Table:
    from pyarrow import csv, json, parquet

    if path.suffix == ".parquet":
        return parquet.read_table(path)
    if path.suffix == ".jsonl":
        return json.read_json(path)
    parse: Any = csv.ParseOptions(delimiter="\t" if path.suffix == ".tsv" else ",", newlines_in_values=True)
    # all as text: a guess from the first rows would make 7 of 007, and stop at the first word in a column of numbers
    names = csv.open_csv(path, parse_options=parse).schema.names
    text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    return csv.read_csv(path, parse_options=parse, convert_options=text)
