"""Cells with nothing in them, counted by hand and against Python."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from niwaki.data.cells import empty_cells

CELLS = some.one_of(some.none(), some.text(max_size=3, alphabet=" \t\n\u00a0\u3000\u2003aé"))


def test_by_hand():
    table = pa.table(
        {
            "text": ["a", "", None, " \n\t", "\u3000", " b "],
            "list": [["a"], [], None, [""], ["x"], ["y"]],
            "number": [1.0, float("nan"), None, 0.0, -1.0, 2.0],
            "whole": [1, None, 0, 3, 4, 5],
            "nothing": [None] * 6,
        }
    )
    assert empty_cells(table, table.column_names) == {"text": 4, "list": 2, "number": 2, "whole": 1, "nothing": 6}
    assert empty_cells(table.slice(0, 0), ["text"]) == {"text": 0}


@given(first=some.lists(CELLS), second=some.lists(CELLS))
def test_as_python_sees_it(first, second):
    column = pa.chunked_array([pa.array(first, pa.string()), pa.array(second, pa.string())])
    expected = sum(cell is None or not cell.strip() for cell in first + second)
    assert empty_cells(pa.table({"x": column}), ["x"]) == {"x": expected}
