"""The table of what each family can do: every recorded cell is what the check gives now."""

import importlib
from pathlib import Path

import pytest

from capabilities import CHECKS, families

CHEAP = {"as published", "heads", "ffn", "layers", "hidden_size", "vocabulary", "native"}
ONLY_HERE = {"canine", "mobilebert", "vit", "xlm", "xlnet"}  # other tests try the rest on the others
CASES = [
    pytest.param(family, column, marks=[] if column in CHEAP or family in ONLY_HERE else pytest.mark.slow)
    for family in families()
    for column in CHECKS
]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def cells(load):
    return load("records").read("families")[-1]["cells"]


def test_the_table_has_every_family_and_column(cells):
    assert {family: set(row) for family, row in cells.items()} == {family: set(CHECKS) for family in families()}


@pytest.mark.parametrize(("family", "column"), CASES)
def test_a_cell_is_what_the_check_gives(family, column, tmp_path, cells):
    assert CHECKS[column](family, tmp_path) == cells[family][column]


def test_reasons_are_alike_for_all_families(load):
    reason = load("render_families").reason
    cells = {
        "bart": {"heads": "heads: family 'bart' has none; leave 'heads' out", "ffn": ""},
        "mt5": {"heads": "heads: family 'mt5' has none; leave 'heads' out", "ffn": ""},
    }
    assert {reason(cells, family, "heads") for family in cells} == {"family FAMILY has none; leave the method out"}
    assert reason(cells, "bart", "ffn") == ""
