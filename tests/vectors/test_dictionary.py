"""Word pairs from files and from what both tables share."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from niwaki.core.errors import InputError
from niwaki.vectors.dictionary import known, read, shared

from .spaces import two_tables


def test_text_files_have_two_words_a_line(tmp_path):
    (tmp_path / "x.txt").write_text("the die\nthe der\nhouse Haus\nthe die\n")
    assert read(tmp_path / "x.txt", "train") == [("the", "die"), ("the", "der"), ("house", "Haus")]
    (tmp_path / "tabs.txt").write_text("New York\tNueva York\n")
    assert read(tmp_path / "tabs.txt", "test") == [("New York", "Nueva York")]


def test_tables_may_say_which_rows_train_and_test(tmp_path):
    table = pa.table({"source": ["a", "b", "c"], "target": ["x", "y", None], "split": ["train", "test", "test"]})
    parquet.write_table(table, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet", "train") == [("a", "x")] and read(tmp_path / "x.parquet", "test") == [
        ("b", "y")
    ]
    parquet.write_table(table.drop_columns(["split"]), tmp_path / "y.parquet")
    assert read(tmp_path / "y.parquet", "test") == [("a", "x"), ("b", "y")]


@pytest.mark.parametrize("content, problem", [("one\n", "line 1 is not two words"), ("", "has no word pairs")])
def test_files_of_another_form_are_rejected(tmp_path, content, problem):
    (tmp_path / "x.txt").write_text(content)
    with pytest.raises(InputError, match=problem):
        read(tmp_path / "x.txt", "train")
    (tmp_path / "x.csv").write_text("source,other\na,b\n")
    with pytest.raises(InputError, match="has no column 'target'; word pairs need the columns source and target"):
        read(tmp_path / "x.csv", "train")
    with pytest.raises(InputError, match="is not a file of word pairs, and none of numerals, identical"):
        read(tmp_path / "numeral", "train")


def test_numerals_and_identical_words_are_found_in_both_tables():
    first, second = two_tables(6)
    first.words[:] = ["the", "1999", "3.5", "taxi", "x1", "12"]
    second.words[:] = ["1999", "die", "12", "taxi", "3,5", "x1"]
    assert shared("numerals", first, second) == [("1999", "1999"), ("12", "12")]
    assert shared("identical", first, second) == [("1999", "1999"), ("taxi", "taxi"), ("x1", "x1"), ("12", "12")]
    assert known([("taxi", "taxi"), ("the", "die"), ("the", "das")], first, second) == [
        ("taxi", "taxi"),
        ("the", "die"),
    ]
    with pytest.raises(InputError, match="no such words in common; give a file of word pairs"):
        shared("numerals", *two_tables(3))
