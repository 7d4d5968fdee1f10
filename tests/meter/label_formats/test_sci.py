"""Software Carbon Intensity: the three terms and their sum."""

from dataclasses import replace

import pytest

from niwaki.meter.label_formats._format import render

from .sample import SAMPLE, WITHOUT_PLACE


def test_score_is_energy_times_intensity_plus_embodied_carbon():
    fields, _ = render("sci", SAMPLE)
    assert fields["R"] == {"value": 1000, "unit": "inferences"}
    assert fields["E"]["value"] == pytest.approx(1.2e-5) and fields["I"]["value"] == 500  # 36 J with a PUE of 1.2
    assert fields["operational"]["value"] == pytest.approx(0.006)
    # 1,000 kg, half of the machine, 2 s of 4 years (126,144,000 s)
    assert fields["M"]["value"] == pytest.approx(1e6 * 0.5 * 2 / 126_144_000)
    assert fields["SCI"]["value"] == pytest.approx(0.006 + 0.007927448) and fields["missing"] == {}


def test_a_missing_term_is_named_and_there_is_no_score():
    fields, _ = render("sci", replace(SAMPLE, hardware=None))
    assert fields["SCI"]["value"] is None and set(fields["missing"]) == {"M"}
    assert fields["operational"]["value"] == pytest.approx(0.006)
    fields, _ = render("sci", WITHOUT_PLACE)
    assert fields["SCI"]["value"] is None and set(fields["missing"]) == {"I", "M"}
