"""Rows with the same inputs and different labels, against a plain search."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.data.contradictions import contradictory_groups

CELLS = some.sampled_from(["a", "b", "ab", ""])
ROWS = some.lists(some.tuples(CELLS, CELLS, some.sampled_from(["x", "y"])), max_size=20)


@given(rows=ROWS, at_once=some.integers(1, 9))
def test_groups_are_those_of_a_plain_search(rows, at_once):
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in zip("abl", columns, strict=True)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("niwaki.data.digests.SORTED_ROWS", at_once)
        found = contradictory_groups(table, ["a", "b"], "l")
    expected = []
    for inputs in dict.fromkeys(row[:2] for row in rows):
        numbers = [number for number, row in enumerate(rows) if row[:2] == inputs]
        if len({rows[number][2] for number in numbers}) > 1:
            expected.append(numbers)
    assert found == expected


def test_lists_of_labels_count_as_sets():
    table = pa.table({"text": ["a", "a", "b", "b"], "label": [["x", "y"], ["y", "x"], ["x"], []]})
    assert contradictory_groups(table, ["text"], "label") == [[2, 3]]
