"""Payback and energy label, from the measurements of a run."""

import json
from pathlib import Path

import pytest

from niwaki import report
from niwaki.core import files

from .runs import make_run, write


def race_with(run: Path, before: list[float], after: list[float]) -> None:
    race = files.read_json(run / "speed.json")
    race["contenders"]["teacher"]["cpu_seconds_per_1000"] = before
    race["contenders"]["int8"]["cpu_seconds_per_1000"] = after
    write(run / "speed.json", race)


def test_payback_by_hand(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    race_with(run, [3.0] * 8, [1.0] * 8)
    result = report.write(run)["payback"]
    # student, pruned, int8: 71 s each, int8 20 s more in a killed attempt; 1.9 CPU seconds a second; 2 saved per 1000
    assert result["shown"] and result["inferences"]["value"] == pytest.approx((3 * 71 + 20) * 1.9 / 2 * 1000)
    assert "pays back after" in (run / "report.html").read_text()


def test_a_stage_of_another_run_costs_what_it_cost_there(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    race_with(run, [3.0] * 8, [1.0] * 8)
    lines = [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]
    for line in lines:
        if line["stage"] == "student":
            line["what"], line["reading"] = "reuse", {**line["reading"], "seconds": 0.0, "cpu_seconds": 0.0}
    (run / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    spent_there = files.read_json(next(run.glob("stages/student-*/result.json")))["spent"]["cpu_seconds"]
    taken = report.write(run)["payback"]["inferences"]["value"]
    assert taken == pytest.approx(((2 * 71 + 20) * 1.9 + spent_there) / 2 * 1000)


def test_no_payback_without_rounds_or_without_a_saving(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    result = report.write(run)["payback"]
    assert not result["shown"] and result["words"].startswith("no payback shown")
    race_with(run, [1.0] * 8, [1.0] * 8)
    assert not report.write(run)["payback"]["shown"]


def test_nothing_compressed_nothing_to_pay_back(tmp_path: Path) -> None:
    assert report.write(make_run(tmp_path / "one", ["teacher"]))["payback"] is None


def test_label_of_a_range(tmp_path: Path) -> None:
    result = report.write(make_run(tmp_path / "demo"))
    # int8: 4.1 J per 1000, 2.5 to 6.2: all of class D (1 to 10); the reference: 57 J, E
    assert result["stages"][-1]["energy"]["label"] == "D"
    assert result["reference"]["energy"]["label"] == "E"
    assert report.write(make_run(tmp_path / "dark", energy=False))["stages"][0]["energy"]["label"] is None


def test_a_volume_gives_days_and_what_a_year_saves(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    race_with(run, [3.0] * 8, [1.0] * 8)
    lines = [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]
    lines[-1]["reading"]["detail"] = {
        "grid": {"grams_per_kwh": 500.0, "pue": 1.2},
        "price": {"usd_per_vcpu_hour": 0.036},
    }
    (run / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = report.write(run, per_day=1e6)["payback"]
    assert result["days"]["value"] == pytest.approx(result["inferences"]["value"] / 1e6)
    # 2 CPU seconds saved per 1000, 1 M a day: 730,000 CPU seconds a year, at the joules per CPU second of what was spent
    joules = sum(line["reading"]["joules"] for line in lines if line["stage"] != "teacher")
    seconds = sum(line["reading"]["cpu_seconds"] for line in lines if line["stage"] != "teacher")
    assert result["kwh_a_year"]["value"] == pytest.approx(730_000 * joules / seconds / 3.6e6)
    assert result["kg_a_year"]["value"] == pytest.approx(result["kwh_a_year"]["value"] * 500 * 1.2 / 1000)
    assert result["usd_a_year"]["value"] == pytest.approx(730_000 / 3600 * 0.036)
    assert "a year then saves" in (run / "report.html").read_text()
