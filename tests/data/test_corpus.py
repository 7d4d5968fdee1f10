"""Documents of text files, folders and tables; copies are dropped, and what is evaluated on leaves the train rows."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from niwaki.core.errors import InputError
from niwaki.data import corpus, spill
from niwaki.data.corpus import read_corpus, without_duplicates

TEXT = "one\ntwo\n\n\n  \nthree\n"


def documents(path, column="", boundary="blank_line"):
    return {part: table.column("text").to_pylist() for part, table in read_corpus(path, column, boundary).items()}


@pytest.mark.parametrize(
    "boundary, wanted",
    [("blank_line", ["one\ntwo", "three"]), ("line", ["one", "two", "three"]), ("file", [TEXT.strip()])],
)
def test_boundaries_end_documents_of_text_files(tmp_path, boundary, wanted):
    (tmp_path / "a.txt").write_text(TEXT)
    assert documents(tmp_path / "a.txt", boundary=boundary) == {"all": wanted}


def test_files_of_a_folder_are_read_in_the_order_of_their_names(tmp_path):
    (tmp_path / "below").mkdir()
    for name, text in (("b.txt", "second"), ("a.txt", "first"), ("below/c.txt", "third"), ("notes.log", "not read")):
        (tmp_path / name).write_text(text)
    assert documents(tmp_path) == {"all": ["first", "second", "third"]}


def test_names_of_text_files_say_which_part_they_are(tmp_path):
    for name in ("train", "validation", "test"):
        (tmp_path / f"{name}.txt").write_text(name)
    assert documents(tmp_path) == {"test": ["test"], "train": ["train"], "validation": ["validation"]}


def test_a_column_is_read_from_shards_with_any_name(tmp_path):
    for number in range(2):
        table = pa.table({"id": [number], "left": [f"left {number}"], "body": [f"body {number}"]})
        parquet.write_table(table, tmp_path / f"part-{number}.parquet")
    assert documents(tmp_path, "body") == {"all": ["body 0", "body 1"]}
    assert documents(tmp_path) == {"all": ["body 0", "body 1"]}  # a name that is known
    with pytest.raises(InputError, match="holds int64, not text"):
        documents(tmp_path, "id")


def test_columns_that_could_each_be_meant_are_rejected(tmp_path):
    parquet.write_table(pa.table({"left": ["a text"], "right": ["another"]}), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"which column holds the texts is not clear.*set data.column"):
        documents(tmp_path)


def test_the_parts_of_a_table_are_those_of_its_files(tmp_path):
    for name in ("train", "validation"):
        parquet.write_table(pa.table({"text": [name, "", None]}), tmp_path / f"{name}.parquet")
    assert documents(tmp_path) == {"train": ["train"], "validation": ["validation"]}


def test_text_files_next_to_tables_are_rejected(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    parquet.write_table(pa.table({"text": ["b"]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"both text files .a.txt. and tables .b.parquet."):
        documents(tmp_path)


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_a_file_without_documents_is_rejected(tmp_path, content):
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(InputError, match="has no documents"):
        documents(tmp_path / "a.txt")


def test_a_file_that_is_too_large_for_one_document_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "MAX_ROW_BYTES", 10)
    (tmp_path / "a.txt").write_text("more than ten bytes")
    with pytest.raises(InputError, match=r"too much for one document; set data.documents"):
        documents(tmp_path / "a.txt", boundary="file")


def test_many_documents_lie_in_a_mapped_file(tmp_path, monkeypatch):
    monkeypatch.setattr(spill, "LIMIT_BYTES", 1000)
    monkeypatch.setattr(corpus, "BATCH_BYTES", 100)
    spilled = []
    original = spill.spill
    monkeypatch.setattr(spill, "spill", lambda batches: spilled.append(1) or original(batches))
    lines = [f"document {number}" for number in range(500)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    assert documents(tmp_path / "a.txt", boundary="line") == {"all": lines}
    assert spilled


def test_the_first_of_equal_documents_stays(monkeypatch):
    from niwaki.data import scratch

    monkeypatch.setattr(scratch, "PIECE_ROWS", 2)  # copies are compared across slices
    parts, dropped = without_duplicates({"all": pa.table({"text": ["a", "b", "a", "c", "b", "a"]})})
    assert parts["all"].column("text").to_pylist() == ["a", "b", "c"] and dropped == 3


def test_documents_that_are_evaluated_on_leave_the_train_rows():
    tables = {"train": pa.table({"text": ["a", "b", "b"]}), "test": pa.table({"text": ["b", "d"]})}
    parts, dropped = without_duplicates(tables)
    assert {part: table.column("text").to_pylist() for part, table in parts.items()} == {
        "train": ["a"],
        "test": ["b", "d"],
    }
    assert dropped == 2


def test_pairs_are_rows_with_a_text_in_both_columns(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"de": "eins", "en": "one", "id": 1}\n{"de": "zwei", "en": " ", "id": 2}\n{"de": null, "en": "x", "id": 3}\n'
    )
    (table,) = corpus.read_pairs(tmp_path / "a.jsonl", "de", "en").values()
    assert table.to_pylist() == [{"text": "eins", "second": "one"}]
    with pytest.raises(InputError, match="column 'id' holds int64, not text"):
        corpus.read_pairs(tmp_path / "a.jsonl", "de", "id")
