"""Rows that two parts share: as sets of plain rows would have it."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.data.overlap import shared_rows

CELLS = some.sampled_from(["a", "b", "ab", "", "é"])
ROWS = some.lists(some.tuples(CELLS, CELLS), max_size=25)


def table(rows):
    first, second = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"a": pa.array(first, pa.string()), "b": pa.array(second, pa.string())})


@given(rows=ROWS, others=ROWS, at_once=some.integers(1, 9))
def test_rows_that_stand_in_both_are_counted(rows, others, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("niwaki.data.scratch.PIECE_ROWS", at_once)
        found = {names: shared_rows(table(rows), table(others), names) for names in ("a", "b", "ab")}
    assert found["ab"] == sum(row in others for row in rows)
    assert found["a"] == sum(row[0] in {other[0] for other in others} for row in rows)
    assert found["b"] == sum(row[1] in {other[1] for other in others} for row in rows)


def test_cells_that_change_places_make_another_row():
    assert shared_rows(table([("a", "b")]), table([("b", "a")]), "ab") == 0


def test_lists_count_as_what_they_hold():
    rows = pa.table({"endings": [["a", "b"], ["c", "d"]]})
    assert shared_rows(rows, rows.slice(1), ["endings"]) == 1
