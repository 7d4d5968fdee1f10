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


def test_the_place_changes_the_emissions(niwaki, run):
    few, many = (json.loads(niwaki("label", run, "--format", "hf", "--place", g, "--json").out) for g in ("50", "500"))
    emissions = [fields["co2_eq_emissions"]["emissions"] for fields in (few, many)]
    assert emissions[1] == pytest.approx(10 * emissions[0])
