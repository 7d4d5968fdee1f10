"""A busy machine is named next to the figures; a quiet or unknown one is not."""

from pathlib import Path

import pytest

from niwaki import report
from niwaki.report.conditions import conditions

from .runs import change, make_run

QUIET = {"load": 0.4, "steal": 0.001, "others": 0.02, "spread": 0.05}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("steal", 0.04, "the hypervisor took away 4 % of the CPU time"),
        ("others", 0.35, "other processes used 35 % of the CPU time"),
        ("spread", 0.6, "laps of the same work differed by 60 %"),
    ],
)
def test_each_disturbance_is_named_with_its_size(tmp_path: Path, key: str, value: float, words: str) -> None:
    run = make_run(tmp_path / "demo")
    change(run / "speed.json", conditions={**QUIET, key: value})
    result = report.write(run)
    assert result["race"]["busy"] is True
    assert result["race"]["note"].startswith(
        f"The machine was busy while speed was measured: {words} (load 0.4 at the start). "
    )
    assert (
        "against teacher in plain transformers (measured on a busy machine), runs at" in result["verdict"]["sentence"]
    )
    for name in ("report.md", "report.html"):
        assert words in (run / name).read_text().replace("\u00a0", " ")


def test_several_at_once() -> None:
    found = conditions({"conditions": {**QUIET, "steal": 0.1, "others": 0.2}})
    assert "other processes used 20 % of the CPU time; the hypervisor took away 10 %" in found["note"]


def test_a_quiet_machine_has_no_notice(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo")
    change(run / "speed.json", conditions=QUIET)
    result = report.write(run)
    assert (result["race"]["busy"], result["race"]["note"]) == (False, "")
    assert "busy" not in result["verdict"]["sentence"] and "usy machine" not in (run / "report.html").read_text()


@pytest.mark.parametrize("given", [{}, {"conditions": 3}, {"conditions": {"steal": "much"}}])
def test_unknown_is_neither_busy_nor_quiet(given: dict) -> None:
    assert conditions(given) | {"load": None} == {**dict.fromkeys(QUIET), "busy": None, "note": ""}
