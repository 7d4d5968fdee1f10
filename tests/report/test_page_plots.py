"""Points and tooltips of the page's plots."""

import re

import pytest

from niwaki import report
from niwaki.report.page_plots import _how, _kind, _point, _tip, against_energy, against_latency, curves

from .runs import add_baselines, make_run


@pytest.fixture
def facts(tmp_path):
    return report.write(make_run(tmp_path / "demo"))


def test_every_stage_and_the_reference_are_points(facts):
    for drawings in (against_energy(facts), against_latency(facts)):
        assert [name for name, _ in drawings] == ["wide", "narrow"]
        for _, drawing in drawings:
            assert drawing.svg.count('class="mark"') == 5
            names = drawing.svg + str(drawing.key)
            assert all(name in names for name in ("teacher in transformers", "student", "pruned", "int8"))


def test_without_energy_there_is_no_plot_of_it(tmp_path):
    facts = report.write(make_run(tmp_path / "demo", energy=False))
    assert against_energy(facts) == [] and against_latency(facts)


def test_a_baseline_without_costs_is_a_line(tmp_path):
    run = make_run(tmp_path / "demo")
    add_baselines(run)
    (_, drawing), _ = against_latency(report.write(run))
    assert "TF-IDF + linear SVM" in drawing.svg and drawing.svg.count('class="mark"') == 5


def test_the_recommended_stage_is_marked(facts):
    kinds = {stage["name"]: _kind(stage, facts) for stage in facts["stages"]}
    assert kinds[facts["verdict"]["deploy"]] == "chosen" and list(kinds.values()).count("chosen") == 1
    assert _kind({**facts["stages"][0], "copy_of": "x", "name": "copy"}, facts) == "copy"
    assert _kind(facts["reference"], facts) == "reference"


def test_a_point_has_both_intervals(facts):
    stage = facts["stages"][0]
    point = _point(stage, facts, 4.0, (3.9, 6.1))
    assert (point.x, point.y, point.x_range) == (4.0, 0.836, (3.9, 6.1))
    assert point.y_range == (stage["score_low"], stage["score_high"])
    assert _point({**stage, "score_low": None}, facts, 4.0, None).y_range is None


def test_tooltips_leave_out_what_is_unknown(facts):
    stage = facts["stages"][0]
    lines = _tip(stage, "accuracy").splitlines()
    assert lines[0].startswith("teacher") and lines[1].startswith("accuracy 83.6 %")
    assert {line.split()[0] for line in lines[1:]} == {"accuracy", "energy", "latency", "throughput", "size"}
    assert not any(line.startswith("size") for line in _tip({**stage, "bytes": None}, "accuracy").splitlines())


def test_trained_stages_have_a_curve(facts):
    assert [name for name, *_ in curves(facts)] == ["teacher", "student", "pruned"]  # int8 is not trained
    assert all(how.startswith("640 steps, ") for _, how, _ in curves(facts))


@pytest.mark.parametrize(
    ("training", "how"),
    [
        (None, ""),
        ({"steps": 1200}, "1,200 steps"),
        (
            {"steps": 10, "trained_parameters": 2048, "trained_share": 0.0125},
            "10 steps, 2,048 parameters trained (1.2 %)",
        ),
        ({"steps": 10, "trained_parameters": 2048, "trained_share": 1.0}, "10 steps"),
    ],
)
def test_how_a_stage_was_trained(training, how):
    assert _how({"training": training}) == how


def test_ticks_of_shares_are_percentages(facts):
    (_, drawing), _ = against_latency(facts)
    assert re.search(r">8\d(\.\d)? %<", drawing.svg)
