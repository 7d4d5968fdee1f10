"""Fields of AI Energy Score."""

import json

import pytest

from niwaki.meter.label_formats._format import render

from .sample import SAMPLE


def test_energy_is_in_watt_hours_per_1000_queries_without_stars():
    fields, text = render("aies", SAMPLE)
    assert fields["wh_per_1000_queries"] == pytest.approx(0.01)  # 36 J ÷ 3,600
    assert fields["avg_energy_per_prompt_wh"] == pytest.approx(1e-5) and fields["avg_total_time"] == pytest.approx(
        0.002
    )
    assert fields["co2_emissions_g"] == pytest.approx(0.006) and fields["gpu_energy_wh"] is None
    assert fields["stars"] is None and fields["stars_reason"].endswith("measured on Example CPU")
    assert json.loads(text) == fields
