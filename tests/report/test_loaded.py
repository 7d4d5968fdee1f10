"""The figures of the engine that niwaki.load picks decide and are shown, next to those of the portable engine."""

from pathlib import Path
from typing import Any

import pytest

from niwaki import report
from niwaki.core import files
from niwaki.report.headline import headline
from niwaki.report.verdict import as_loaded

from .runs import contender, make_run, write


def load_with(run: Path, stage: str, faster: float, **more: Any) -> None:
    """Adds figures of the native engine, so many times as fast as the portable one, to a stage."""
    race = files.read_json(run / "speed.json")
    own = race["contenders"][stage]
    result = contender(stage, None)
    for part in ("throughput", "ratio"):
        result[part] = {end: value * faster for end, value in own[part].items()}
    result["latency_ms"] = {end: value / faster for end, value in own["latency_ms"].items()}
    result["energy_per_1000"] = {**own["energy_per_1000"], "joules": own["energy_per_1000"]["joules"] / faster}
    energy = {"value": 30.0 * faster, "low": 29.0 * faster, "high": 31.0 * faster}
    own["loaded"] = {**result, "engine": "native", "score": 0.82, "energy_ratio": energy, **more}
    write(run / "speed.json", race)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "demo")


def test_both_figures_with_their_ranges_are_in_the_headline(run: Path) -> None:
    load_with(run, "int8", 2.0)
    result = report.write(run)
    # 13.8 (13.4 to 14.2) times the reference in ONNX Runtime, twice that in the native engine
    assert (
        "runs at 27.6× (26.8–28.4×) the speed in the native engine, which niwaki.load picks (onnx: 13.8× (13.4–14.2×)), uses 60× (58–62×) less energy"
        in result["verdict"]["sentence"]
    )
    tile = next(one for one in headline(result).tiles if one.name == "faster")
    assert (tile.value, tile.range) == ("27.6×", "26.8–28.4×")
    assert (
        tile.detail
        == "5,800 texts/s instead of 210 texts/s, in the native engine; 2,900 texts/s, 13.8× (13.4–14.2×), in onnx"
    )
    assert "2,900/s (13.8×); native 5,800/s (27.6×)" in (run / "report.md").read_text()
    assert "<small>native: 5,800/s</small>" in (run / "report.html").read_text()


def test_figures_of_the_loaded_engine_decide(run: Path) -> None:
    """int8 is the cheapest in the portable engine; the student's engine is ten times as fast, and its score is enough."""
    assert report.build(run)["verdict"]["deploy"] == "int8"
    load_with(run, "student", 20.0)
    assert report.build(run)["verdict"]["deploy"] == "student"


def test_portable_engine_is_named_once_if_it_is_fastest(run: Path) -> None:
    result = report.write(run)
    for stage in result["stages"]:
        assert as_loaded(stage)["engine"] == stage["engine"] and as_loaded(stage)["ratios"] == stage["ratios"]
    assert "which niwaki.load picks" not in result["verdict"]["sentence"]


def test_a_score_that_the_engine_loses_is_a_reason(run: Path) -> None:
    load_with(run, "int8", 2.0, score=0.80)
    reasons = report.build(run)["verdict"]["reasons"]
    assert 'In the native engine int8 scores 80.0 %, below that line; engine="onnx" gives the score above.' in reasons
    load_with(run, "int8", 2.0, score=0.815)
    assert not [reason for reason in report.build(run)["verdict"]["reasons"] if "native" in reason]


def test_without_a_race_nothing_is_loaded(run: Path) -> None:
    (run / "speed.json").unlink()
    assert [stage["loaded"] for stage in report.build(run)["stages"]] == [None] * 4
