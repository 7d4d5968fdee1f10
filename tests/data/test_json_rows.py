"""JSON rows: objects longer than a block, lists and missing values."""

import json

from niwaki.data import dataset_files, json_rows, utf8
from niwaki.data.dataset_files import read_splits, read_table


def test_column_that_changes_from_numbers_to_text_is_text(tmp_path):
    (tmp_path / "x.csv").write_text("text,label\n" + "1,0\n" * 400_000 + "word,1\n")
    table = read_table(tmp_path / "x.csv")
    assert table.column("text")[-1].as_py() == "word" and table.column("text")[0].as_py() == "1"


def test_objects_longer_than_a_block_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(utf8.blocks, "__defaults__", (64,))
    rows = [{"a": "é]},{" * 50 + str(number)} for number in range(5)]
    (tmp_path / "x.json").write_text(json.dumps(rows, ensure_ascii=False))
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    assert read_table(tmp_path / "x.json").to_pylist() == read_table(tmp_path / "x.jsonl").to_pylist() == rows


def test_null_among_nested_lists_keeps_its_position(tmp_path):
    """Arrow's reader of JSON moves it, and what it gives is then shorter than it says (a crash, later)."""
    rows = [{"senses": [None, ["a"], ["b", "c"]]}, {"senses": [["d"], None]}, {"senses": [None, None]}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    table = dataset_files.read_splits(path)["all"]
    table.validate(full=True)
    assert table.to_pylist() == rows


def test_rows_with_many_keys_are_read_in_blocks(tmp_path, monkeypatch):
    rows = [{"text": f"film {k}", "label": "good", f"k{k % 7}": k} for k in range(200)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole = read_splits(path)["all"]
    monkeypatch.setattr(json_rows, "MAX_CELLS", 50)
    blocks_read = read_splits(path)["all"]
    assert blocks_read.select(whole.column_names).equals(whole) or blocks_read.to_pylist() == whole.to_pylist()
    assert [{key: value for key, value in row.items() if value is not None} for row in blocks_read.to_pylist()] == rows


def test_brackets_in_texts_do_not_count_as_nesting(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"text": "[{" * 500, "label": '":' * 99}) + "\n")
    assert read_splits(path)["all"].to_pylist() == [{"text": "[{" * 500, "label": '":' * 99}]
