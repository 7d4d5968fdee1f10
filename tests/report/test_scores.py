"""Several seeds: means, spreads and intervals by hand, and unfinished repeats."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from niwaki import report
from niwaki.core import files
from niwaki.report.scores import over_seeds, over_test_sets, quality, subset_names, subset_scores

from .runs import add_parts, add_seeds, change, make_run, read_page, score


def one(value: float, low: float, high: float) -> dict[str, Any]:
    return {"metric": "accuracy", "value": value, "low": low, "high": high, "rows": 100, "all": {}}


def test_means_and_spread_by_hand() -> None:
    result = over_seeds({0: one(0.80, 0.76, 0.84), 1: one(0.83, 0.80, 0.86), 2: one(0.83, 0.78, 0.88)})
    # deviations from 0.82: −0.02, 0.01, 0.01; squares sum to 0.0006, over two is 0.0003
    assert result["seeds"]["seeds"] == [0, 1, 2] and result["seeds"]["values"] == [0.80, 0.83, 0.83]
    assert result["score"] == result["seeds"]["mean"] == pytest.approx(0.82)
    assert result["seeds"]["sd"] == pytest.approx(0.0003**0.5)
    assert (result["score_low"], result["score_high"]) == (pytest.approx(0.78), pytest.approx(0.86))


def test_one_seed_is_as_before_and_has_no_spread() -> None:
    result = over_seeds({13: one(0.8, 0.7, 0.9)})
    assert (result["score"], result["score_low"], result["score_high"]) == (0.8, 0.7, 0.9)
    assert result["seeds"] == {"seeds": [13], "values": [0.8], "mean": 0.8, "sd": None}
    assert over_seeds({})["score"] is None and over_seeds({})["seeds"] is None


def test_values_missing_for_a_seed_are_not_averaged() -> None:
    result = over_seeds({0: one(0.8, 0.7, 0.9), 1: {"value": 0.9, "low": None, "high": "x"}, 2: {"value": "x"}, 3: []})
    assert result["seeds"]["seeds"] == [0, 1] and result["score"] == pytest.approx(0.85)
    assert result["score_low"] is None and result["score_high"] is None


def test_junk_in_the_metrics_is_null() -> None:
    assert quality({"all": {"f1": 3, "accuracy": {"value": "high", "low": 0.1}}})["scores"] == {
        "f1": {"value": None, "low": None, "high": None},
        "accuracy": {"value": None, "low": 0.1, "high": None},
    }


def test_three_seeds_on_the_page(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher", "int8"])  # 0.836 and 0.8205 with the first seed, 13
    add_seeds(run, {1: {"teacher": 0.833, "int8": 0.8205}, 2: {"teacher": 0.839, "int8": 0.8205}})
    result = report.write(run)
    teacher, int8 = result["stages"]
    assert teacher["seeds"]["seeds"] == [13, 1, 2] and teacher["seeds"]["values"] == [0.836, 0.833, 0.839]
    assert int8["kept"] == pytest.approx(0.8205 / 0.836)
    html, text = read_page(run), (run / "report.md").read_text()
    assert "<b>83.6 % ± 0.3 (3 seeds)</b><small>81.4–85.8 %</small>" in html
    assert "| teacher | 83.6 % ± 0.3 (3 seeds) (81.4–85.8 %) |" in text
    assert "| int8 **deploy** | 82.0 % ± 0.0 (3 seeds) (" in text


def test_the_verdict_goes_by_the_mean(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher", "int8"])
    # first seed: int8 keeps 98.1 %; over both: 0.7605 of 0.836 is 91.0 %, below 97 %
    add_seeds(run, {1: {"teacher": 0.836, "int8": 0.7005}})
    result = report.write(run)
    assert result["verdict"]["deploy"] == "teacher"
    assert "Lost too much to be considered: int8." in result["verdict"]["reasons"]


def test_an_unfinished_repeat_is_named_and_not_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher", "int8"])
    add_seeds(run, {1: {"teacher": 0.834, "int8": 0.82}, 2: {"teacher": 0.838}})
    result = report.write(run)
    assert result["unfinished"] == ["int8 (seed 2)"]
    assert result["stages"][1]["seeds"]["seeds"] == [13, 1] and result["stages"][0]["seeds"]["seeds"] == [13, 1, 2]
    assert "<b>Unfinished:</b> int8 (seed 2)." in (run / "report.html").read_text()


def test_repeats_of_a_stage_that_is_not_finished_itself_count_for_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher", "int8"])
    add_seeds(run, {1: {"teacher": 0.834, "int8": 0.82}})
    shutil.rmtree(run / files.read_json(run / "plan.json")["stages"][1]["folder"])
    int8 = report.write(run)["stages"][1]
    assert not int8["finished"] and int8["score"] is None and int8["seeds"] is None


def test_the_same_seed_twice_counts_once(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher"])
    add_seeds(run, {1: {"teacher": 0.834}})
    repeats = files.read_json(run / "plan.json")["repeats"]
    change(run / "plan.json", repeats=[*repeats, *repeats, {**repeats[0], "seed": 13}, {**repeats[0], "seed": "x"}])
    assert report.write(run)["stages"][0]["seeds"]["values"] == [0.836, 0.834]


def test_further_test_sets_have_a_table(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher", "int8"])
    report.write(run)
    assert "Further test sets" not in (run / "report.html").read_text()
    add_parts(run, "mismatched", 0.8)  # half of the interval on 500 rows: 1.96 × √(0.8 × 0.2 ÷ 500) = 0.0351
    odd = {"metric": "matthews", "value": -0.05, "low": -0.2, "high": 0.1, "rows": None}
    change(next(run.glob("stages/int8-*/result.json")), parts={"hard": odd, "junk": 7})
    result = report.write(run)
    assert result["stages"][0]["parts"]["mismatched"]["score_rows"] == 500
    html, text = read_page(run), (run / "report.md").read_text()
    assert "Further test sets" in html and "<small>76.5–83.5 %</small>" in html
    assert "| teacher | mismatched | accuracy | 80.0 % (76.5–83.5 %) | 500 |" in text
    assert "| int8 | hard | matthews | −0.050 (−0.200 to 0.100) | unknown |" in text
    assert "| int8 | junk | accuracy | unknown | unknown |" in text


def test_mean_and_worst_of_further_test_sets_by_hand(tmp_path: Path) -> None:
    parts = {"de": {"score": 0.7, "metric": "f1"}, "zh": {"score": 0.4, "metric": "f1"}}
    assert over_test_sets(parts) == {"count": 2, "mean": pytest.approx(0.55), "worst": "zh", "worst_score": 0.4}
    assert over_test_sets({"de": parts["de"]}) is None
    assert over_test_sets({**parts, "fr": {"score": None, "metric": "f1"}}) is None
    assert over_test_sets({**parts, "fr": {"score": 0.5, "metric": "exact"}}) is None


def test_report_shows_mean_and_worst_of_further_test_sets(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher", "int8"])
    for name, lower in (("teacher", 0.0), ("int8", 0.1)):
        languages = {"de": score(0.8 - lower), "zh": score(0.6 - lower)}
        change(next(run.glob(f"stages/{name}-*/result.json")), parts=languages)
    report.write(run)
    html, text = read_page(run), (run / "report.md").read_text()
    assert "| int8 | 82.0 % | 60.0 % | 50.0 % (zh) |" in text
    assert "accuracy by test set" in html and "zh: teacher 60 %" in html


def test_a_metric_below_zero_has_no_ratios(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", ["teacher", "int8"])
    for name, value in (("teacher", 0.1), ("int8", -0.05)):
        sentence = {**score(0.5), "metric": "matthews", "value": value, "low": value - 0.1, "high": value + 0.1}
        change(next(run.glob(f"stages/{name}-*/result.json")), score=sentence)
    teacher, int8 = report.write(run)["stages"]
    assert teacher["kept"] == 1 and int8["kept"] is None and int8["ratios"]["score"] is None
    assert "| int8 | −0.050 (−0.150 to 0.050) | – |" in (run / "report.md").read_text()


def with_subsets(**scores: float) -> dict[str, Any]:
    every = {name: {"value": value, "low": value - 0.1, "high": value + 0.1} for name, value in scores.items()}
    return {"metric": "f1", **every["f1"], "rows": 100, "all": every}


def test_scores_of_subsets_are_those_named_after_the_metric() -> None:
    stage = {**quality(with_subsets(f1=0.5, recall=0.4, f1_macro=0.3, f1_nouns=0.6, f1_other_senses=0.2)), "parts": {}}
    stage["parts"]["more"] = quality(with_subsets(f1=0.5, f1_verbs=0.7))
    names = subset_names([stage], "f1")
    assert names == ["nouns", "other_senses", "verbs"] and subset_names([stage], None) == []
    nouns, _, verbs = subset_scores(stage, "f1", names)
    assert verbs is None and nouns == {"score": 0.6, "score_low": 0.5, "score_high": pytest.approx(0.7)}


def test_report_shows_scores_of_subsets_of_every_test_set(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    report.write(run)
    assert not any("subsets of the rows" in (run / name).read_text().lower() for name in ("report.md", "report.html"))
    for stage in files.read_json(run / "plan.json")["stages"]:
        found = with_subsets(f1=0.5, f1_other_senses=0.271)
        change(run / stage["folder"] / "result.json", score=found, parts={"ALL": with_subsets(f1=0.5, f1_nouns=0.613)})
    report.write(run)
    text = (run / "report.md").read_text()
    assert "| stage | test set | other senses | nouns |" in text
    assert "| teacher | test | 27.1 % (17.1–37.1 %) | – |" in text
    assert "| teacher | ALL | – | 61.3 % (51.3–71.3 %) |" in text
    page = read_page(run)
    assert "<h3>Subsets of the rows</h3>" in page and '<td role="cell" data-label="nouns"><b>61.3 %</b>' in page
