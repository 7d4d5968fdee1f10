"""The table of baselines: its rows, gains and costs, by hand."""

import re
from pathlib import Path

import pytest

from niwaki import report
from niwaki.report.baseline_rows import baseline_table, lineage

from .runs import BASELINES, add_baselines, add_comparisons, change, make_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = make_run(tmp_path / "demo")
    add_baselines(folder)
    add_comparisons(folder, ("teacher", "frozen encoder", 0.056, -0.001, 0.113))
    return folder


def table(run: Path) -> list[str]:
    text = (run / "report.md").read_text()
    return text[text.index("| model |") :].split("\n\n")[0].splitlines()


def test_table_has_baselines_then_best_and_deployed_stage(run: Path) -> None:
    result = report.write(run)
    assert [entry["name"] for entry in result["baselines"]] == list(BASELINES)
    assert [entry["kind"] for entry in result["baselines"]] == ["majority", "tfidf", "static", "frozen"]
    # a baseline's own cost; a stage's is 2.4 kJ and 60 s, and int8 comes through four of them
    assert table(run)[2:] == [
        "| majority class | 50.0 % (47.0–53.0 %) | +33.6 points | 60 s | 10 J (6.0–15 J, estimated) |",
        "| TF-IDF + linear SVM (best in validation) | 76.7 % (74.2–79.2 %) | +6.9 points | 60 s | 20 J (12–30 J, estimated) |",
        "| averaged static vectors | 74.0 % (71.4–76.6 %) | +9.6 points | 60 s | 30 J (18–45 J, estimated) |",
        "| frozen encoder (a transformer too) | 78.0 % (75.5–80.5 %) "
        "| +5.6 points (−0.1 to +11.3): no difference shown | 60 s | 40 J (24–60 J, estimated) |",
        "| teacher (best stage) | 83.6 % (81.4–85.8 %) |  | 60 s | 2.4 kJ (1.4–3.6 kJ, estimated) |",
        "| int8 (deployed) | 82.0 % (79.7–84.4 %) |  | 4.0 min | 9.6 kJ (5.8–14 kJ, estimated) |",
    ]
    html = (run / "report.html").read_text()
    names = re.findall(r'<tr role="row"[^>]* data-stage="([^"]+)"', html[: html.index('id="stages"')])
    assert names == [*BASELINES, "teacher", "int8"]
    assert "+5.6 points (−0.1 to +11.3)<small>no difference shown</small>" in html


def test_one_stage_that_is_best_and_deployed_is_one_row(tmp_path: Path) -> None:
    run = make_run(tmp_path / "one", ["teacher"])
    report.write(run)
    assert table(run)[2:] == [
        "| TF-IDF + linear SVM | 76.7 % (74.2–79.2 %) | +6.9 points | 0.60 s | 9.0 J (5.4–14 J, estimated) |",
        "| teacher (best stage, deployed) | 83.6 % (81.4–85.8 %) |  | 60 s | 2.4 kJ (1.4–3.6 kJ, estimated) |",
    ]


def test_baseline_without_figures_is_listed(run: Path) -> None:
    baselines = [{"note": "needs an encoder"}, 3, {"name": "TF-IDF + linear SVM", "score": {"value": "high"}}]
    change(run / "baseline.json", baselines=baselines)
    result = report.write(run)
    assert [entry["gain"] for entry in result["baselines"]] == [None, None]
    assert table(run)[2] == "| baseline (needs an encoder) | unknown |  | unknown | unknown |"


def test_a_stage_is_charged_with_its_teacher_once(run: Path) -> None:
    result = report.build(run)
    # the student starts from the teacher and learns from it; a plan in a circle ends
    assert [stage["name"] for stage in lineage(result, "student", teachers=True)] == ["teacher", "student"]
    result["stages"][1]["parent"] = None  # a student made from nothing still had its teacher
    assert baseline_table(result)[-1]["making"]["joules"] == 4 * 2_400
    result["stages"][0]["parent"] = "int8"
    assert len(lineage(result, "int8", teachers=True)) == 4
