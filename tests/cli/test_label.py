"""`niwaki label`: formats on stdout or in a file."""

import json

import pytest

from report.runs import make_run


@pytest.fixture
def run(tmp_path, quick_disk):
    return make_run(tmp_path / "run")


def test_the_letter_is_printed(niwaki, run):
    result = niwaki("label", run)
    assert result.code == 0 and result.out.strip()
    fields = json.loads(niwaki("label", run, "--json").out)
    assert f"class {fields['classes']}" in result.out


def test_labels_are_written_to_a_file(niwaki, run, tmp_path):
    shown = niwaki("label", run, "--format", "svg").out
    assert niwaki("label", run, "--format", "svg", "--out", tmp_path / "label.svg").out == ""
    assert (tmp_path / "label.svg").read_text() == shown and shown.startswith("<svg")
    niwaki("label", run, "--json", "--out", tmp_path / "label.json")
    assert json.loads((tmp_path / "label.json").read_text()) == json.loads(niwaki("label", run, "--json").out)


def test_emissions_are_those_of_the_place(niwaki, run):
    result = niwaki("label", run, "--format", "hf", "--stage", "int8", "--place", "500", "--json")
    assert json.loads(result.out)["co2_eq_emissions"]["emissions"] == pytest.approx(2_400 / 3.6e6 * 500)


def test_unknown_formats_and_missing_options_are_named(rejected, run):
    assert "did you mean 'hf'" in rejected("label", run, "--format", "hff")
    assert "give both" in rejected("label", run, "--embodied-kg", "100", code=2)
