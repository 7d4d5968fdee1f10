"""Payback and label, from the files of a race."""

from pathlib import Path

import pytest

from niwaki import report
from niwaki.core import files

from .runs import make_run


def race_with(run: Path, before: list[float], after: list[float]) -> None:
    race = files.read_json(run / "speed.json")
    race["contenders"]["teacher"]["cpu_seconds_per_1000"] = before
    race["contenders"]["int8"]["cpu_seconds_per_1000"] = after
    files.write_json(run / "speed.json", race)


def test_payback_by_hand(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    race_with(run, [3.0] * 8, [1.0] * 8)
    made = report.write(run)["payback"]
    # student, pruned, int8: 71 s each, int8 20 s more in a killed attempt; 1.9 CPU seconds a second; 2 saved per 1000
    assert made["shown"] and made["inferences"]["value"] == pytest.approx((3 * 71 + 20) * 1.9 / 2 * 1000)
    assert "pays back after" in (run / "report.html").read_text()


def test_no_payback_without_rounds_or_without_a_saving(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    made = report.write(run)["payback"]
    assert not made["shown"] and made["words"].startswith("no payback shown")
    race_with(run, [1.0] * 8, [1.0] * 8)
    assert not report.write(run)["payback"]["shown"]


def test_nothing_compressed_nothing_to_pay_back(tmp_path: Path) -> None:
    assert report.write(make_run(tmp_path / "one", ["teacher"]))["payback"] is None


def test_label_of_a_range(tmp_path: Path) -> None:
    made = report.write(make_run(tmp_path / "demo"))
    # int8: 4.1 J per 1000, 2.5 to 6.2: all of class D (1 to 10); the reference: 57 J, E
    assert made["stages"][-1]["energy"]["label"] == "D"
    assert made["reference"]["energy"]["label"] == "E"
    assert report.write(make_run(tmp_path / "dark", energy=False))["stages"][0]["energy"]["label"] is None
