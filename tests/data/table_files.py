"""The same rows in every format."""

import json

import pyarrow as pa
from pyarrow import parquet

ROWS = {"text": ["a, b", 'say "x"', "two\nlines", "007"], "label": ["1", "0", "1", "0"]}


def write(folder, name):
    path = folder / name
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(ROWS), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in pa.table(ROWS).to_pylist()))
    elif path.suffix == ".json":
        path.write_text(json.dumps(pa.table(ROWS).to_pylist(), indent=1))
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        cells = ['"' + text.replace('"', '""') + '"' for text in ROWS["text"]]
        lines = [mark.join(row) for row in zip(cells, ROWS["label"], strict=True)]
        path.write_text("\n".join([f"text{mark}label", *lines]) + "\n")
    return path
