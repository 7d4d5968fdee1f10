"""The table of what each family can do: every recorded cell is what the check gives now."""

import pytest
import records
from render_families import reason

from capabilities import CHECKS, families

CHEAP = {"as published", "heads", "ffn", "layers", "hidden_size", "vocabulary", "native"}
ONLY_HERE = {"canine", "mobilebert", "xlm", "xlnet"}  # other tests try the rest on the others
CASES = [
    pytest.param(family, column, marks=[] if column in CHEAP or family in ONLY_HERE else pytest.mark.slow)
    for family in families()
    for column in CHECKS
]


def test_the_table_has_every_family_and_column():
    cells = records.read("families")[-1]["cells"]
    assert {family: set(row) for family, row in cells.items()} == {family: set(CHECKS) for family in families()}


@pytest.mark.parametrize(("family", "column"), CASES)
def test_a_cell_is_what_the_check_gives(family, column, tmp_path):
    assert CHECKS[column](family, tmp_path) == records.read("families")[-1]["cells"][family][column]


def test_reasons_are_alike_for_all_families():
    cells = {
        "bart": {"heads": "heads: family 'bart' has none; leave 'heads' out", "ffn": ""},
        "mt5": {"heads": "heads: family 'mt5' has none; leave 'heads' out", "ffn": ""},
    }
    assert {reason(cells, family, "heads") for family in cells} == {"family FAMILY has none; leave the method out"}
    assert reason(cells, "bart", "ffn") == ""
