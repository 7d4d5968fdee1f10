"""The page on GLUE: averages before and after, tasks below a baseline, and jobs that start from another job's model."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def record(name: str, *scores: float, high: float = 0.1, rows: int = 9000) -> dict:
    kinds = ("majority", "frozen")
    return {
        "name": name,
        "task": name.removeprefix("strong-"),
        "glue": [*scores],
        "seeds": [*range(len(scores))],
        "rows": {"train": rows},
        "baselines": [{"kind": kind, "name": f"{kind} baseline", "value": 0.5} for kind in kinds],
        "pairs": [{"b": "frozen baseline", "difference": 0.0, "low": -0.2, "high": high, "shown": high < 0}],
    }


def test_tasks_without_a_new_record_count_as_before(load):
    """Six tasks at 60 points; two rise by 9 and 3: 12 / 6 = 2 points on average."""
    page = load("render_glue")
    rows = [record(task, 0.6) for task in page.AVERAGED]
    rows += [record("strong-rte", 0.7, 0.68, rows=2000), record("strong-stsb", 0.63, 0.63, 0.63, high=-0.01)]
    average, below, seeds = page.target_notes({row["name"]: row for row in rows}, ["stsb", "rte"])
    assert "60.0 before, 62.0 after, +2.0 (target: +2, not decided, met so far)" in average
    assert "counted as before: cola, sst2, mrpc, qnli" in average
    assert "stsb (frozen)" in below and "rte" not in below
    assert "rte" in seeds and "stsb" not in seeds


def test_a_missed_target_is_stated(load):
    page = load("render_glue")
    rows = {task: record(task, 0.6) for task in page.AVERAGED}
    rows["strong-rte"] = record("strong-rte", 0.7)
    assert "+1.7 (target: +2, not decided, missed so far)" in page.target_notes(rows, ["rte"])[0]


def test_jobs_start_from_jobs_that_come_before(load):
    known = load("glue").jobs("mpnet")
    names = [*known]
    starts = {name: job["start"] for name, job in known.items() if "start" in job}
    assert starts and all(names.index(start) < names.index(name) for name, start in starts.items())


def test_the_target_is_decided_once_all_seeds_are_there(load):
    page = load("render_glue")
    rows = {task: record(task, 0.6) for task in page.AVERAGED}
    rows |= {f"strong-{task}": record(f"strong-{task}", 0.62, 0.62, 0.62) for task in page.AVERAGED}
    average, _, seeds = page.target_notes(rows, [*page.AVERAGED])
    assert "+2.0 (target: +2, met)." in average and seeds.endswith("none.")
