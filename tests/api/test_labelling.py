"""Energy labels of runs and of models outside of runs."""

import json

import pytest

import tiny
from niwaki.api.labelling import label
from niwaki.core.errors import UsageError
from report.runs import make_run


@pytest.fixture
def run(tmp_path, quick_disk):
    return make_run(tmp_path / "demo")


def test_the_model_of_a_stage_is_found_in_its_run(run):
    folder = next(run.glob("stages/int8-*")) / "model"
    folder.mkdir()
    assert label(folder)[0]["name"] == "demo-int8"


def test_a_model_without_a_run_is_measured(tmp_path):
    fields, text = label(tiny.deployed(tiny.model("bert"), tmp_path / "model"), "aies")
    assert fields["total_prompts"] == 1000 and fields["total_duration_seconds"] > 0 and json.loads(text) == fields


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embodied_kg": 100.0}, "give both the embodied kilograms and the years of use of the machine, or neither"),
        ({"lifetime_years": 4.0}, "give both"),
        ({"pue": 1.2}, "a PUE has no effect without a place; give --place too"),
    ],
)
def test_settings_without_effect_are_rejected(run, settings, message):
    with pytest.raises(UsageError, match=f"^label: {message}"):
        label(run, **settings)


def test_a_stage_needs_a_run(tmp_path):
    with pytest.raises(
        UsageError, match=r"is not the folder of a run, so it has no stage 'int8'; leave the stage out$"
    ):
        label(tmp_path, stage="int8")


def test_the_machine_itself_counts_in_sci(run):
    """80 kg over 4 years, half of it reserved, against none of it."""
    settings = {"place": "500", "embodied_kg": 80.0, "lifetime_years": 4.0}
    half, none = (label(run, "sci", **settings, share=share)[0] for share in (0.5, 0.0))
    assert json.dumps(half) != json.dumps(none)
