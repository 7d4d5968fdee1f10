"""CodeCarbon's columns and units."""

import csv
import io

import pytest

from niwaki.meter.emissions import COLUMNS
from niwaki.meter.label_formats._format import render

from .sample import SAMPLE, WITHOUT_PLACE


def test_energy_is_in_kwh_emissions_in_kg_and_power_in_watts():
    training, inference = render("codecarbon", SAMPLE)[0]["rows"]
    assert training["experiment_id"] == "training" and inference["experiment_id"] == "1000 inferences"
    # 7,200 J are 0.002 kWh, with a PUE of 1.2 0.0024 kWh, at 500 g/kWh 1.2 g; 36 J are 1e-5, 1.2e-5 and 0.006 g
    assert training["energy_consumed"] == pytest.approx(0.0024) and inference["energy_consumed"] == pytest.approx(
        1.2e-5
    )
    assert training["emissions"] == pytest.approx(1.2e-3) and inference["emissions"] == pytest.approx(6e-6)
    assert training["emissions_rate"] == pytest.approx(1e-5) and inference["emissions_rate"] == pytest.approx(3e-6)
    assert training["cpu_power"] == pytest.approx(60) and inference["cpu_power"] == pytest.approx(18)
    assert training["pue"] == 1.2 and training["cpu_model"] == "Example CPU" and training["ram_total_size"] == 8


def test_text_is_a_csv_file_with_all_columns():
    fields, text = render("codecarbon", SAMPLE)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 2
    assert float(rows[1]["energy_consumed"]) == fields["rows"][1]["energy_consumed"]


def test_emissions_stay_empty_without_a_place():
    rows = render("codecarbon", WITHOUT_PLACE)[0]["rows"]
    assert [row["emissions"] for row in rows] == [None, None] and rows[0]["energy_consumed"] == pytest.approx(0.002)
