"""Label data from the files of a run, and the command that prints it."""

import json

import pytest

import tiny
from niwaki.api.labelling import label
from niwaki.cli._app import run as run_program
from niwaki.core.errors import InputError
from niwaki.report.label_data import of_run

from .runs import make_run


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "demo")


def test_a_named_stage_has_its_own_energy(run):
    data = of_run(run, "int8")
    assert data.name == "demo-int8" and data.inference.joules == pytest.approx(12_000 / 2_900)
    assert data.training is not None and data.training.joules == 2_400 and data.cpu == "Example CPU @ 2.0 GHz"
    assert data.quality == "accuracy 82.0 %" and data.task == "rotten_tomatoes"


def test_the_model_of_a_stage_is_found_in_its_run(run):
    folder = next(run.glob("stages/int8-*")) / "model"
    folder.mkdir()
    assert label(folder)[0]["name"] == "demo-int8"


def test_an_unknown_stage_is_rejected_with_the_names(run):
    with pytest.raises(InputError, match="has no stage 'tiny'; there is: teacher, student"):
        of_run(run, "tiny")


def test_the_command_prints_emissions_for_a_place(run, capsys):
    assert run_program(["label", str(run), "--format", "hf", "--stage", "int8", "--place", "500", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["co2_eq_emissions"]
    assert found["emissions"] == pytest.approx(2_400 / 3.6e6 * 500)


def test_the_command_names_formats_and_missing_options(run, capsys):
    assert run_program(["label", str(run), "--format", "hff"]) == 3
    assert "did you mean 'hf'" in capsys.readouterr().err
    assert run_program(["label", str(run), "--embodied-kg", "100"]) == 2


def test_a_model_without_a_run_is_measured(tmp_path):
    fields, text = label(tiny.deployed(tiny.model("bert"), tmp_path / "model"), "aies")
    assert fields["total_prompts"] == 1000 and fields["total_duration_seconds"] > 0 and json.loads(text) == fields
