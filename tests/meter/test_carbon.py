"""Places, prices and tables: nothing assumed in silence."""

from pathlib import Path

import pytest

import niwaki.meter.tables
from niwaki.core.errors import InputError
from niwaki.meter.carbon import embodied, grid, pue_of, world
from niwaki.meter.tables import rows

TABLES = sorted(path.stem for path in Path(niwaki.meter.tables.__file__).parent.glob("*.csv"))


@pytest.mark.parametrize(
    ("place", "grams"), [("FRA", 56), ("fra", 56), ("France", 56), ("USA", 369), (120, 120), ("120.5", 120.5)]
)
def test_places(place: str | float, grams: float) -> None:
    assert grid(place).grams_per_kwh == grams


def test_grams_by_hand() -> None:
    assert grid("DEU", pue=1.5).grams(3.6e6) == pytest.approx(381 * 1.5)
    assert grid("DEU", pue="aws").pue == 1.2
    assert world().grams_per_kwh == 481


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("XXX", "ISO 3166"),
        ("Germny", "did you mean 'Germany'"),
        (-5, "below 0"),
        ("nan", "not in the grid table"),
        ("", "ISO"),
    ],
)
def test_an_unknown_place_is_rejected(place: str | float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        grid(place)


@pytest.mark.parametrize("pue", [0.9, "azur", -1])
def test_an_invalid_pue_is_rejected(pue: str | float) -> None:
    with pytest.raises(InputError, match="pue"):
        pue_of(pue)


@pytest.mark.parametrize("table", TABLES)
def test_every_row_has_a_source_and_a_year(table: str) -> None:
    assert rows(table)
    for row in rows(table):
        assert row["source"] and 2000 <= int(row["year"]) <= 2026 and None not in row, row


def test_no_grid_is_free_of_carbon_by_a_gap_in_the_data() -> None:
    assert min(float(row["grams_per_kwh"]) for row in rows("grids")) > 0
    assert len(rows("grids")) == len({row["code"] for row in rows("grids")}) > 200


def test_embodied_is_apart_and_labelled() -> None:
    year = 365 * 24 * 3600
    found = embodied(seconds=year, machine_kg=1000, lifetime_years=4, share=0.5)
    assert found["embodied_grams"] == pytest.approx(125_000) and found["label"] == "assumed"
    with pytest.raises(InputError):
        embodied(1, 1000, 0)
