"""A user's rows: read as they are written, or refused in a line."""

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from niwaki.core.errors import Refused
from niwaki.data.files import read, read_table

ROWS = {"text": ["a, b", 'say "x"', "two\nlines", "007"], "label": ["1", "0", "1", "0"]}


def write(folder, name):
    path = folder / name
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(ROWS), path)
    elif path.suffix == ".jsonl":
        lines = [json.dumps({"text": text, "label": label}) for text, label in zip(*ROWS.values(), strict=True)]
        path.write_text("\n".join(lines) + "\n")
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        cells = ['"' + text.replace('"', '""') + '"' for text in ROWS["text"]]
        lines = [mark.join(row) for row in zip(cells, ROWS["label"], strict=True)]
        path.write_text("\n".join([f"text{mark}label", *lines]) + "\n")
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_each_kind_gives_the_rows_as_written(tmp_path, kind):
    assert read(write(tmp_path, f"x.{kind}"))["all"].to_pydict() == ROWS


def test_a_column_of_numbers_that_turns_to_words_late(tmp_path):
    (tmp_path / "x.csv").write_text("text,label\n" + "1,0\n" * 400_000 + "word,1\n")
    table = read_table(tmp_path / "x.csv")
    assert table.column("text")[-1].as_py() == "word" and table.column("text")[0].as_py() == "1"


def test_a_folder_gives_its_parts(tmp_path):
    write(tmp_path, "train.csv")
    write(tmp_path, "test.parquet")
    (tmp_path / "test.md").write_text("notes")
    assert set(read(tmp_path)) == {"train", "test"}


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("x.csv", None, "is not there"),
        ("x.xlsx", b"x", "give .csv, .tsv, .jsonl, .parquet"),
        ("x.csv", b"", "cannot be read as csv"),
        ("x.csv", b"text,label\n", "has no rows"),
        ("x.csv", b"text,label\na\n", "cannot be read as csv"),
        ("x.csv", b"text,label\n\xff\xfe,1\n", "cannot be read as csv in UTF-8"),
        ("x.jsonl", b"{not json\n", "cannot be read as jsonl"),
        ("x.parquet", b"PAR1nonsense", "cannot be read as parquet"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Refused) as caught:
        read(tmp_path / name)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_without_train_rows(tmp_path):
    with pytest.raises(Refused, match=r"has no train file \(train.csv, train.tsv"):
        read(tmp_path)
