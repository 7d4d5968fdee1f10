"""Files in the format of CodeCarbon."""

import csv
from pathlib import Path

import pytest

from niwaki.core.errors import InputError
from niwaki.meter import Reading
from niwaki.meter.emissions import COLUMNS, compare_with_codecarbon, write_emissions


def test_csv_has_the_columns_and_units_of_codecarbon(tmp_path: Path) -> None:
    path = tmp_path / "emissions.csv"
    known = Reading(
        10.0, 5.0, 3.6e6, 1.2e6, 1.1e7, 2e6, "estimated", "vcpu", 56.0, detail={"grid": {"place": "FRA", "pue": 1.0}}
    )
    write_emissions(path, [known, Reading(1.0, 1.0)], project="demo")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert tuple(rows[0]) == tuple(COLUMNS) and len(COLUMNS) == 38
    assert float(rows[0]["energy_consumed"]) == 1.0 and float(rows[0]["emissions"]) == 0.056
    assert rows[0]["country_iso_code"] == "FRA" and float(rows[0]["cpu_power"]) == pytest.approx(3.6e5)
    assert rows[1]["energy_consumed"] == rows[1]["emissions"] == ""  # not known, so not 0


def test_reading_is_compared_with_codecarbon(tmp_path: Path) -> None:
    path = tmp_path / "emissions.csv"
    path.write_text("timestamp,energy_consumed\n1,0.5\n2,0.000002\n")
    found = compare_with_codecarbon(Reading(1.0, 1.0, 2.4), path)
    assert found["codecarbon_joules"] == pytest.approx(7.2) and found["codecarbon_per_niwaki"] == pytest.approx(3)
    path.write_text("nothing\n")
    with pytest.raises(InputError, match="not a CodeCarbon"):
        compare_with_codecarbon(Reading(1.0, 1.0, 2.4), path)
