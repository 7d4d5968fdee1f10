"""Data files of any size that must be rejected: one entry for each way in which a reader can reject a file.

`write(name, folder, size)` makes a file of about `size` bytes (before gzip). READ is the program that reads it and ends
as niwaki does: one line, exit code 3. Used by test_rejections.py with small files and by benchmarks/rejections.py with large ones.
"""

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

READ = """
import sys
from niwaki.core.errors import InputError
from niwaki.data.dataset_files import read_splits
try:
    read_splits(sys.argv[1], sys.argv[2:] or None)
except InputError as error:
    sys.stderr.write(f"{error}\\n")
    sys.exit(3)
"""
CSV = b"a film about the number %d of all the numbers and of those who count them,%d\n"
JSONL = b'{"text": "a film about the number %d and of those who count them", "label": %d}\n'
HEAD = b"text,label\n"
EARLY, LATE = 0.0, 0.95  # where the bad row stands


def repeated(row: bytes, size: int) -> bytes:
    some = b"".join(row % (number, number % 2) for number in range(1000))
    return some * max(1, size // len(some))


def rows(size: int, bad: bytes, place: float, head: bytes = HEAD, row: bytes = CSV) -> bytes:
    """Good rows with a bad one among them."""
    good = repeated(row, size)
    cut = good.find(b"\n", int(len(good) * place)) + 1
    return head + good[:cut] + bad + good[cut:]


def objects(size: int, bad: bytes, place: float = LATE) -> bytes:
    return rows(size, bad, place, b"", JSONL)


TEXT_FILES: dict[str, Callable[[int], bytes]] = {
    "cells_early.csv": lambda size: rows(size, b"a,b,c,d\n", EARLY),
    "cells_late.csv": lambda size: rows(size, b"a,b,c,d\n", LATE),
    "cells_early.csv.gz": lambda size: rows(size, b"a,b,c,d\n", EARLY),
    "cells_late.csv.gz": lambda size: rows(size, b"a,b,c,d\n", LATE),
    "cells_early.tsv": lambda size: rows(size, b"a\n", EARLY, b"text\tlabel\n", CSV.replace(b",", b"\t")),
    "utf16_cells.csv": lambda size: rows(size // 2, b"a,b,c,d\n", EARLY).decode().encode("utf-16"),
    "encoding_early.csv": lambda size: rows(size, b"caf\xe9,1\n", EARLY),
    "encoding_late.csv": lambda size: rows(size, b"caf\xe9,1\n", LATE),
    "encoding_late.csv.gz": lambda size: rows(size, b"caf\xe9,1\n", LATE),
    "nul.csv": lambda size: rows(size, b"a\0b,1\n", LATE),
    "open_quote_early.csv": lambda size: rows(size, b'"a,1\n', EARLY),
    "open_quote_late.csv": lambda size: rows(size, b'"a,1\n', LATE),
    "long_row.csv": lambda size: rows(size, b"a" * (9 << 20) + b",1\n", LATE),
    "same_columns.csv": lambda size: rows(size, b"", EARLY, b"text,text\n"),
    "many_columns.csv": lambda size: rows(size, b"", EARLY, b"text," * 3000 + b"label\n"),
    "missing_column.csv": lambda size: rows(size, b"", EARLY),
    "cut_off.csv.gz": lambda size: rows(size, b"", EARLY),
    "no_json_early.jsonl": lambda size: objects(size, b"{no json\n", EARLY),
    "no_json_late.jsonl": lambda size: objects(size, b"{no json\n"),
    "no_json_late.jsonl.gz": lambda size: objects(size, b"{no json\n"),
    "no_object.jsonl": lambda size: objects(size, b"[1]\n"),
    "other_type.jsonl": lambda size: objects(size, b'{"text": 1, "label": "a"}\n'),
    "nested.jsonl": lambda size: objects(size, b'{"text": ' + b"[" * 99 + b"]" * 99 + b"}\n"),
    "long_row.jsonl": lambda size: objects(size, b'{"text": "' + b"a" * (17 << 20) + b'"}\n'),
    "many_digits.jsonl": lambda size: objects(size, b'{"text": "a", "label": ' + b"7" * 5001 + b"}\n"),
    "many_keys.jsonl": lambda size: objects(size, b"".join(b'{"key %d": 1}\n' % number for number in range(3000))),
    "encoding.jsonl": lambda size: objects(size, b'{"text": "caf\xe9"}\n'),
    "nul.jsonl": lambda size: objects(size, b'{"text": "\0"}\n'),
    "missing_column.jsonl": lambda size: objects(size, b""),
    "no_object.json": lambda size: b"[" + objects(size, b"7\n").strip().replace(b"\n", b",\n") + b"]",
    "not_closed.json": lambda size: b"[" + objects(size, b"").strip().replace(b"\n", b",\n"),
}
TASK_FILES: dict[
    str, Callable[[int], bytes]
] = {  # sound rows that no task can train on; only `niwaki check` rejects them
    "empty_label.csv": lambda size: rows(size, b"a film,\n", LATE),
    "no_label.csv": lambda size: rows(size, b"", EARLY, b"text\n", CSV.replace(b",", b" ")),
}
PARQUET_FILES = ("missing_column.parquet", "damaged_page.parquet", "no_footer.parquet")
NAMES = (*TEXT_FILES, *PARQUET_FILES)


def write(name: str, folder: Path, size: int) -> list[str]:
    """Makes the file and gives the arguments of READ."""
    path = folder / name
    if name in PARQUET_FILES:
        write_parquet(path, size)
    else:
        data = {**TEXT_FILES, **TASK_FILES}[name](size)
        data = gzip.compress(data, 1) if path.suffix == ".gz" else data
        path.write_bytes(data[: len(data) // 2] if name.startswith("cut_off") else data)
    return [str(path), *(["lable"] if name.startswith("missing_column") else [])]


def write_parquet(path: Path, size: int) -> None:
    texts = [f"a film about the number {number} and of those who count them" for number in range(1, size // 60)]
    table = pa.table({"text": texts, "label": [number % 2 for number in range(len(texts))]})
    parquet.write_table(table, path, compression="none", use_dictionary=False, row_group_size=100_000)
    data = bytearray(path.read_bytes())
    if path.name.startswith("damaged"):
        place = len(data) // 2
        data[place : place + 4096] = b"\xff" * 4096
    if path.name.startswith("no_footer"):
        del data[-100:]
    path.write_bytes(data)
