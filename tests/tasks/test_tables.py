"""Tables of tasks: slices, texts, digests and columns that settings name."""

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.tasks import _tables
from niwaki.tasks._tables import as_text, counted, digest, each_of, row_slices


def test_few_different_texts_are_counted():
    many = pa.table({"text": ["a", "b", "c"]})
    assert counted({"train": many}) == "3 rows"
    assert counted({"train": many, "test": pa.table({"text": ["a", "a", "b"]})}) == "6 rows of 3 different texts"


def test_slices_are_all_rows_in_order(monkeypatch):
    monkeypatch.setattr(_tables, "SLICE", 2)
    parts = [part.column("n").to_pylist() for part in row_slices(pa.table({"n": [1, 2, 3, 4, 5]}))]
    assert parts == [[1, 2], [3, 4], [5]]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array(["a", None]), ["a", None]),
        (pa.array([1, 2]), ["1", "2"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
    ],
)
def test_columns_become_text(values, texts):
    found = as_text(pa.table({"column": values}), "column", "here")
    assert found.type == pa.string() and found.to_pylist() == texts


@pytest.mark.parametrize("values", [pa.array([[1], [2]]), pa.array([b"\xff"])])
def test_what_is_no_text_is_rejected(values):
    with pytest.raises(InputError, match=r"^here: column 'column' is not text in UTF-8 \(.*\); convert it first$"):
        as_text(pa.table({"column": values}), "column", "here")


def test_the_digest_follows_values_order_and_names():
    table = pa.table({"text": ["a", "b"]})
    others = [pa.table({"text": ["b", "a"]}), pa.table({"other": ["a", "b"]}), pa.table({"text": ["a"]})]
    assert digest(pa.table({"text": pa.chunked_array([["a"], ["b"]])})) == digest(table)
    assert len({digest(one) for one in (table, *others)}) == 4


def test_settings_name_one_column_or_several():
    table = pa.table({"a": [1], "b": [1], "a, b": [1]})
    assert each_of("a", table) == ["a"]
    assert each_of(["a", "b"], table) == ["a", "b"]
    assert each_of("b ,a", table) == ["b", "a"]
    assert each_of("a, b", table) == ["a, b"]  # a column of this name
