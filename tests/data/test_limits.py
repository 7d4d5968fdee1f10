"""Limits of files of rows: what is within them is read as before."""

import json

import pytest

from niwaki.core.errors import InputError
from niwaki.data import json_rows, limits
from niwaki.data.dataset_files import read_splits
from niwaki.data.limits import depth_of, keys_in


@pytest.mark.parametrize(
    "line, depth",
    [(b"{}", 1), (b'{"a": [[1], [2]]}', 3), (b'{"a": "[[[[", "b": "\\"[["}', 1), (b"1", 0), (b"[" * 90, 33)],
)
def test_depth_is_that_of_brackets_outside_of_texts(line, depth):
    assert depth_of(line) == depth


def test_keys_with_and_without_what_is_known():
    block = b'{"a": ":)", "b": "x\\": y"}\n{"a": 1, "b" : 2}\n'
    found = keys_in(block, set())
    assert {b"a", b"b"} <= found
    plain = b'{"a": 1, "b": "text"}\n' * 3
    assert keys_in(plain, set()) == {b"a", b"b"} == keys_in(plain, {b"a", b"b"})
    assert b"c" in keys_in(plain + b'{"c": 1}\n', {b"a", b"b"})


def test_rows_of_many_keys_are_read_in_blocks_to_the_same_table(tmp_path, monkeypatch):
    rows = [{"text": f"film {k}", "label": "good", f"k{k % 7}": k} for k in range(200)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole = read_splits(path)["all"]
    monkeypatch.setattr(json_rows, "MAX_CELLS", 50)
    blocks_read = read_splits(path)["all"]
    assert blocks_read.select(whole.column_names).equals(whole) or blocks_read.to_pylist() == whole.to_pylist()
    assert [{key: value for key, value in row.items() if value is not None} for row in blocks_read.to_pylist()] == rows


def test_brackets_in_texts_are_no_nesting(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"text": "[{" * 500, "label": '":' * 99}) + "\n")
    assert read_splits(path)["all"].to_pylist() == [{"text": "[{" * 500, "label": '":' * 99}]


def test_growth(tmp_path):
    limits.check_growth(tmp_path, 1, limits.FLOOR_BYTES)
    limits.check_growth(tmp_path, 1 << 20, 300 << 20)
    with pytest.raises(InputError, match="unpacks to more than 300 times its size"):
        limits.check_growth(tmp_path, 1 << 20, (300 << 20) + 1)
