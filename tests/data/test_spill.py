"""Tables beyond the memory limit are in mapped files and have the same rows."""

import json

import pyarrow as pa
import pytest

from data.table_files import ROWS, write
from niwaki.core.errors import InputError
from niwaki.data import dataset_files, spill, utf8
from niwaki.data.dataset_files import read_splits, read_table


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
def test_rows_beyond_the_limit_are_in_a_mapped_file_and_unchanged(tmp_path, kind, monkeypatch):
    rows = [{"text": f"text {number}\n", "label": str(number % 7)} for number in range(5000)]
    many = {name: [row[name] for row in rows] for name in ("text", "label")}
    monkeypatch.setitem(ROWS, "text", many["text"])
    monkeypatch.setitem(ROWS, "label", many["label"])
    path = write(tmp_path, f"x.{kind}")
    held = read_table(path)
    monkeypatch.setattr(utf8.blocks, "__defaults__", (4096,))
    monkeypatch.setattr(spill, "LIMIT_BYTES", 10_000)
    monkeypatch.setattr(spill.tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before = pa.total_allocated_bytes()
    mapped = read_table(path)
    assert pa.total_allocated_bytes() - before < 10_000 < mapped.nbytes
    assert mapped.equals(held) and mapped.to_pylist() == rows
    assert not list((tmp_path / "temporary").iterdir())


def test_incompatible_column_types_of_blocks_are_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(utf8.blocks, "__defaults__", (4096,))
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n' * 2000 + '{"a": "b"}\n' * 2000)
    with pytest.raises(InputError, match=r"x.jsonl: cannot be read as json.*a"):
        read_splits(tmp_path / "x.jsonl")


def test_column_types_of_blocks_are_widened(tmp_path, monkeypatch):
    monkeypatch.setattr(utf8.blocks, "__defaults__", (512,))
    kinds = [{"a": None, "b": []}, {"a": 1, "b": [], "c": "2020-01-01"}, {"a": 1.5, "b": ["x"], "c": "word"}]
    rows = [{"c": None, **row} for row in kinds for _ in range(200)]
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert read_table(tmp_path / "x.jsonl").to_pylist() == rows
    monkeypatch.setattr(spill, "LIMIT_BYTES", 1000)
    assert read_table(tmp_path / "x.jsonl").to_pylist() == rows


def test_lack_of_space_is_reported_before_writing(tmp_path, monkeypatch):
    path = write(tmp_path, "x.csv")
    monkeypatch.setattr(spill, "LIMIT_BYTES", 1)
    monkeypatch.setattr(
        dataset_files, "gather", lambda batches, expect_bytes: spill.gather(batches, expect_bytes=1 << 60)
    )
    with pytest.raises(InputError, match=r"a copy of the rows \(see TMPDIR\) needs about"):
        read_splits(path)
