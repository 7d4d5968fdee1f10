"""A user's rows: read unchanged, or rejected in one line."""

import gzip
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from data.table_files import ROWS, write
from niwaki.core.errors import InputError
from niwaki.data import utf8
from niwaki.data.dataset_files import read_splits, read_table


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_every_format_gives_the_same_rows(tmp_path, kind):
    assert read_splits(write(tmp_path, f"x.{kind}"))["all"].to_pydict() == ROWS


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json"])
def test_compressed_files_are_read(tmp_path, kind):
    plain = write(tmp_path, f"x.{kind}")
    (tmp_path / f"X.{kind.upper()}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert read_splits(str(tmp_path / f"X.{kind.upper()}.gz"))["all"].to_pydict() == ROWS


def test_only_requested_columns_are_read(tmp_path):
    for kind in ("csv", "jsonl", "parquet"):
        path = write(tmp_path, f"x.{kind}")
        assert read_splits(path, columns=["label"])["all"].to_pydict() == {"label": ROWS["label"]}
        with pytest.raises(InputError, match=r"has no column 'lable', did you mean 'label'\?"):
            read_splits(path, columns=["lable"])


def test_lists_and_structs_are_preserved(tmp_path):
    rows = [
        {"tokens": ["a", "b"], "answers": {"text": ["x"], "answer_start": [3]}},
        {"tokens": [], "answers": {"text": [], "answer_start": []}},
    ]
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    table = read_table(tmp_path / "x.jsonl")
    parquet.write_table(table, tmp_path / "x.parquet")
    for read_again in (table, read_table(tmp_path / "x.parquet")):
        assert read_again.to_pylist() == rows
        assert read_again.schema.field("tokens").type == pa.list_(read_again.schema.field("tokens").type.value_field)
        assert pa.types.is_string(read_again.schema.field("tokens").type.value_type)


def test_folder_is_read_as_splits(tmp_path):
    write(tmp_path, "train.csv")
    write(tmp_path, "test.parquet")
    (tmp_path / "test.md").write_text("notes")
    assert set(read_splits(tmp_path)) == {"train", "test"}


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("x.csv", None, "is not there"),
        ("x.doc", b"x", "give .csv, .tsv, .jsonl, .parquet"),
        *(
            (f"x{suffix}", b"x", "is a spreadsheet, which is not read; export the sheet as CSV")
            for suffix in (".xlsx", ".XLS", ".ods")
        ),
        ("x.csv", b"", "is empty"),
        ("x.csv", b"\n \n", "is empty"),
        ("x.csv", b"text,label\n", "has no rows"),
        ("x.csv", b"text,label", "has no rows"),
        ("x.csv", b"text,label\na\n", "(row 2 has 1 cells and the header 2: 'a'); put cells"),
        ("x.csv", b'text,label\n"a\nb",c\nx,y,z\n', "(row 3 has 3 cells and the header 2: 'x,y,z')"),
        ("x.csv", b'text,label\na,b\nc,"d\ne,f\n', "a quote that opens in or after row 3 never closes"),
        ("x.csv", b'text,label\na,b\n"c,d\ne,f\n', "a quote that opens in or after row 3 never closes"),
        ("x.csv", b"text,label,text\na,b,c\n", "column 'text' is there 2 times"),
        (
            "x.csv",
            b"text,label\ncaf\xe9,1\n",
            "in UTF-8 (byte 14 is 0xe9); convert it from what it is in, e.g. `iconv -f",
        ),
        ("x.csv", b"\x7fELF\x02\x00\x00\xff", "it may be no text at all"),
        ("x.csv", b"PK\x03\x04\x14\x00\x06\x00", "it is a zip archive or a spreadsheet"),
        ("x.csv", gzip.compress(b"text,label\na,b\n", mtime=0), "end its name in .gz"),
        (
            "x.csv.gz",
            gzip.compress(b"text,label\na,b\n" * 99, mtime=0)[:-12],
            "cannot be read as csv (Compressed file ended",
        ),
        ("x.csv.gz", b"text,label\na,b\n", "cannot be read as csv (Not a gzipped file"),
        ("x.jsonl", b"", "is empty"),
        ("x.jsonl", b'{"a": 1}\n\n{not json\n', "cannot be read as json (line 3, column 2: Expecting property name"),
        ("x.jsonl", b'{"a": 1}\n[1]\n', "(line 2 is not an object: [1])"),
        ("x.jsonl", b'{"a": 1}\n{"a": "b"}\n', "(Column(/a) changed from number to string, lines 1 to 2); write all"),
        ("x.jsonl", b'{"a": "\xff"}\n', "byte 7 is 0xff"),
        ("x.jsonl", b"{}\n{}\n", "has no rows"),
        ("x.json", b"[]", "has no rows"),
        ("x.json", b'[{"a": 1}, {"a": ', "item 2 is not a whole JSON object"),
        ("x.json", b'[{"a": 1}, 2]', "item 2 is not an object"),
        ("x.parquet", b"PAR1nonsense", "cannot be read as parquet"),
    ],
)
def test_unreadable_file_is_rejected_in_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_splits(tmp_path / name)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_folders_and_unreadable_files_are_rejected(tmp_path, monkeypatch):
    (tmp_path / "train.csv").mkdir()
    with pytest.raises(InputError, match=r"train.csv: is a folder where a file is wanted"):
        read_splits(tmp_path)
    path = write(tmp_path, "x.csv")

    def denied(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(utf8, "open_binary", denied)  # the administrator, who may run tests, may read all files
    with pytest.raises(InputError, match=r"x.csv: may not be read \(permission denied\); `chmod"):
        read_splits(path)


def test_folder_without_train_rows_is_rejected(tmp_path):
    with pytest.raises(InputError, match=r"has no train file \(train.csv, train.tsv"):
        read_splits(tmp_path)
