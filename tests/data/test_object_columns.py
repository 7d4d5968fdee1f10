"""Columns of Python values as Arrow columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.data.object_columns import BATCH_ROWS
from niwaki.data.objects import to_table

TEXTS = ["a warm film", "a dull plot"]


def test_several_labels_of_a_text_are_lists():
    assert to_table(TEXTS, [["warm"], ["dull", "long"]]).column("label").to_pylist() == [["warm"], ["dull", "long"]]


def test_missing_cells_of_a_table_are_nulls():
    rows = [{"text": None, "n": 1}, {"text": "b"}]
    assert to_table(rows).to_pylist() == [{"text": None, "n": 1}, {"text": "b", "n": None}]
    frame = pd.DataFrame({"text": ["a", float("nan")], "n": pd.array([1, None], dtype="Int64"), "x": [0.5, np.nan]})
    assert to_table(frame).to_pylist() == [{"text": "a", "n": 1, "x": 0.5}, {"text": None, "n": None, "x": None}]


def test_types_may_widen_after_the_first_batch():
    numbers = [None] * BATCH_ROWS + [1] * BATCH_ROWS + [0.5]
    table = to_table({"text": ["x"] * len(numbers), "n": numbers})
    assert table.schema.field("n").type == pa.float64() and table.column("n").to_pylist() == numbers
    with pytest.raises(InputError, match=r"^data: the values of a column differ in type"):
        to_table({"text": ["x"] * len(numbers), "n": [*numbers[:-1], "one"]})
