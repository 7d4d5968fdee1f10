"""The rule of the verdict, on figures worked out by hand."""

from typing import Any

import pytest

from niwaki.report.verdict import cheapest, verdict


def stage(name: str, score: float | None, joules: float | None = None, **more: Any) -> dict[str, Any]:
    none = dict.fromkeys(("throughput", "energy", "bytes"))
    return {
        "name": name,
        "score": score,
        "score_low": None if score is None else score - 0.02,
        "score_high": None if score is None else score + 0.02,
        "score_rows": 1000,
        "kept": None if score is None else score / 0.80,
        "bytes": 100,
        "throughput": None,
        "latency_ms": {"p50": None},
        "energy": {"per_1000": {"joules": joules}},
        "ratios": none,
        **more,
    }


def facts(*stages: dict[str, Any], baseline: float | None = None) -> dict[str, Any]:
    return {
        "metric": "accuracy",
        "stages": list(stages),
        "reference": {"stage": stages[0]["name"]},
        "unfinished": [item["name"] for item in stages if item["score"] is None],
        "baseline": None if baseline is None else stage("TF-IDF", baseline),
        "comparisons": [],
        "baselines": [],
        "race": None,
    }


def test_the_cheapest_that_keeps_enough() -> None:
    # 0.97 × 0.80 = 0.776: 0.777 is enough, 0.775 is not, however cheap
    result = verdict(facts(stage("teacher", 0.80, 50), stage("student", 0.777, 9), stage("tiny", 0.775, 1)))
    assert (result["deploy"], result["best"], result["cost"]) == ("student", "teacher", "energy per 1000 texts")
    assert "97.1 % of the best accuracy (77.7 % against 80.0 %)" in result["sentence"]
    assert any("Lost too much to be considered: tiny" in reason for reason in result["reasons"])
    assert any("1,000 test rows are too few" in reason for reason in result["reasons"])


def test_costs_within_five_per_cent_are_a_tie_that_the_smaller_file_wins() -> None:
    pair = [stage("a", 0.80, 10.0, bytes=200), stage("b", 0.79, 10.4, bytes=100)]
    assert cheapest(pair)[1]["name"] == "b"
    pair[1]["energy"]["per_1000"]["joules"] = 10.6
    assert cheapest(pair)[1]["name"] == "a"


def test_a_cost_counts_only_when_all_know_it() -> None:
    pair = [stage("a", 0.80, 10.0, throughput=100.0), stage("b", 0.80, None, throughput=900.0)]
    assert cheapest(pair) == ("time per text", pair[1])
    for item in pair:
        item.update(throughput=None, bytes=None)
    assert cheapest(pair)[0] is None


@pytest.mark.parametrize(
    ("baseline", "needed"),
    [(0.70, "yes"), (0.77, "probably"), (0.78, "not shown"), (0.90, "not shown")],
)
def test_do_you_need_a_transformer(baseline: float, needed: str) -> None:
    result = verdict(facts(stage("teacher", 0.80, 50), baseline=baseline))
    assert result["transformer"]["needed"] == needed
    assert result["sentence"].startswith("TF-IDF would do") == (needed == "not shown")
    assert result["transformer"]["gain"] == pytest.approx(0.80 - baseline)


def test_nothing_to_deploy_and_no_baseline() -> None:
    assert verdict(facts(stage("teacher", None)))["deploy"] is None
    assert verdict(facts(stage("teacher", 0.8)))["transformer"] is None


def test_unfinished_stages_are_named() -> None:
    result = verdict(facts(stage("teacher", 0.8, 5), stage("student", None)))
    assert "Unfinished, and so not considered: student." in result["reasons"]


def test_a_metric_below_zero_still_has_a_best() -> None:
    assert verdict(facts(stage("a", -0.2, 5), stage("b", -0.1, 9)))["deploy"] == "b"


def test_only_as_good_is_good_enough_where_the_best_is_not_above_zero() -> None:
    result = verdict(facts(stage("a", -0.1, 9), stage("b", -0.1, 5, kept=None), stage("c", -0.11, 1)))
    assert result["deploy"] == "b"
    assert result["sentence"] == "Deploy b: its accuracy is as good as the best (−10.0 % against −10.0 %)."
    assert "Lost too much to be considered: c." in result["reasons"]
    assert result["reasons"][0] == (
        "Good enough (no less than the best, which is not above 0, so at least −10.0 %): a, b."
    )


def test_tie_is_named_in_the_reasons() -> None:
    result = verdict(facts(stage("big", 0.80, 10.0, bytes=200), stage("small", 0.79, 10.4, bytes=100)))
    assert result["deploy"] == "small"
    assert (
        "Of these, big and small need the least energy per 1000 texts, within 5 %; small is the smallest file."
        in result["reasons"]
    )


def test_a_baseline_within_the_interval_of_the_chosen_one_is_a_doubt() -> None:
    # best 0.80 (0.78 to 0.82) is above the baseline's 0.77, the chosen 0.78 (0.76 to 0.80) is not
    result = verdict(facts(stage("teacher", 0.80, 50), stage("student", 0.78, 5), baseline=0.77))
    assert result["deploy"] == "student" and result["sentence"].startswith("Deploy student")
    assert any("no gain of this stage over it is shown" in reason for reason in result["reasons"])


def test_a_quantized_copy_of_a_good_stage_is_recommended_where_the_pruned_stages_lost_too_much() -> None:
    """As on Rotten Tomatoes: 8 bits were tried on the pruned stage alone, so 70 MB of floats were recommended."""
    stages = [
        stage("teacher", 0.927, 50, bytes=91),
        stage("student", 0.926, 20, bytes=70),
        stage("pruned", 0.896, 12, bytes=35),
        stage("int8", 0.895, 4, bytes=9),
        stage("student-int8", 0.926, 8, bytes=19, copy_of="student"),
    ]
    assert verdict(facts(*stages))["deploy"] == "student-int8"


@pytest.mark.parametrize("best", [True, False])
def test_a_frozen_encoder_that_is_best_is_named(best: bool) -> None:
    result = verdict(facts(stage("teacher", 0.80, training={"start_is_best": best}), stage("student", 0.70)))
    assert (
        any(reason.startswith("teacher: a head trained on the frozen encoder") for reason in result["reasons"]) is best
    )
