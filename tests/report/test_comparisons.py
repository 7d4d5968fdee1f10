"""Differences between two models in words, by hand."""

from pathlib import Path
from typing import Any

import pytest

from niwaki import report
from niwaki.core.errors import InputError
from niwaki.report.comparisons import comparisons, gap

from .runs import add_comparisons, change, make_run


def words(metric: str | None, difference: Any, low: Any, high: Any) -> tuple[bool | None, str]:
    found = gap(metric, {"difference": difference, "low": low, "high": high, "shown": "whatever"})
    return found["shown"], found["words"]


@pytest.mark.parametrize(
    ("metric", "figures", "expected"),
    [
        ("accuracy", (-0.004, -0.012, 0.003), (False, "−0.4 points (−1.2 to +0.3): no difference shown")),
        ("accuracy", (-0.021, -0.032, -0.010), (True, "a loss of 2.1 points (1.0 to 3.2) is shown")),
        ("f1_macro", (0.021, 0.010, 0.032), (True, "a gain of 2.1 points (1.0 to 3.2) is shown")),
        ("matthews", (-0.012, -0.030, 0.005), (False, "−0.012 (−0.030 to +0.005): no difference shown")),
        ("pearson", (-0.021, -0.032, -0.010), (True, "a loss of 0.021 (0.010 to 0.032) is shown")),
        ("accuracy", (0.01, 0.0, 0.02), (False, "+1.0 points (+0.0 to +2.0): no difference shown")),
        ("accuracy", (-0.01, -0.02, 0.0), (False, "−1.0 points (−2.0 to +0.0): no difference shown")),
        ("accuracy", (0.0, 0.0, 0.0), (False, "+0.0 points (+0.0 to +0.0): no difference shown")),
    ],
)
def test_differences_in_words(metric: str, figures: tuple[float, float, float], expected: tuple[bool, str]) -> None:
    assert words(metric, *figures) == expected


@pytest.mark.parametrize("ends", [(None, None), (0.02, 0.03), (0.03, -0.03), (-0.1, None), ("a", "b")])
def test_invalid_interval_gives_no_statement(ends: tuple[Any, Any]) -> None:
    assert words("accuracy", 0.01, *ends) == (None, "+1.0 points")


def test_unknown_pairs_and_other_metrics_are_ignored() -> None:
    pair = {"a": "student", "b": "teacher", "difference": 0.1, "low": 0.0, "high": 0.2}
    junk = [None, 3, {}, {**pair, "b": "nobody"}, {**pair, "difference": "large"}, {**pair, "a": ["teacher"]}]
    known = ["teacher", "student"]
    assert [item["a"] for item in comparisons({"pairs": [pair, *junk]}, "f1", known)] == ["student"]
    assert comparisons({"metric": "accuracy", "pairs": [pair]}, "f1", known) == []
    assert comparisons({"pairs": "x"}, "f1", known) == comparisons({}, "f1", known) == []


def test_every_later_stage_against_the_first(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    pairs = [("student", "teacher", -0.004, -0.012, 0.003), ("int8", "teacher", -0.021, -0.032, -0.010)]
    add_comparisons(run, *pairs, ("int8", "pruned", 0.0, -0.001, 0.001))
    found = report.write(run)
    assert [(pair["a"], pair["b"]) for pair in found["comparisons"]] == [(a, b) for a, b, *_ in pairs] + [
        ("int8", "pruned")
    ]
    html, text = (run / "report.html").read_text(), (run / "report.md").read_text()
    assert "<dt>student</dt><dd>−0.4 points (−1.2 to +0.3): no difference shown</dd>" in html
    assert "<dt>int8</dt><dd>a loss of 2.1 points (1.0 to 3.2) is shown</dd>" in html
    assert "- int8 compared with teacher on the same test rows: a loss of 2.1 points (1.0 to 3.2) is shown." in text
    assert html.count("<h3>Compared with teacher") == 1 and "with pruned" not in text


def test_comparison_of_a_later_version_is_rejected(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    add_comparisons(run)
    change(run / "comparisons.json", version=2)
    with pytest.raises(InputError, match="version 2"):
        report.build(run)
