"""Candidates are tried level by level until one is good enough, the budget is met or the time is over."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from compression.test_judge import ALL, candidate, judged_all
from niwaki.compression import search as module
from niwaki.compression.budget import Budget
from niwaki.compression.candidates import Level
from niwaki.compression.judge import Goal
from niwaki.compression.search import levels, make_one, search, shortfall, summary
from niwaki.core.errors import GateMissed
from niwaki.train.loop import Interrupted

SOURCE, FOLDER = Path("model"), Path("run")
SIZE = Goal(0.97, Budget(), "size")
LEVELS = [Level("copies", (), ("int8",)), Level("slim"), Level("tiny")]
FOUND = {  # the candidates of each level
    "copies": [candidate("int8", 0.895, 25)],
    "slim": [candidate("slim", 0.89, 10)],
    "tiny": [candidate("tiny", 0.70, 2)],
}


@pytest.fixture
def tried(monkeypatch):
    """The levels that were run, in order; FOUND says what each one gives."""
    found = []

    def run_levels(source, rows, levels, folder, deadline=float("inf")):
        found.append([level.name for level in levels])
        return SimpleNamespace(model=lambda name: folder / name, names=found[-1])

    def judge(run, task, goal):
        return judged_all(goal, ALL[0], *(one for name in run.names for one in FOUND[name]))

    monkeypatch.setattr(module, "run_levels", run_levels)
    monkeypatch.setattr(module, "judge", judge)
    monkeypatch.setattr(module, "recipe_of", lambda *given: SimpleNamespace(make_task=lambda: None))
    monkeypatch.setattr(module, "levels", lambda *given: iter(LEVELS))
    return found


def test_the_search_ends_with_the_first_good_level(tried):
    found = search(SOURCE, None, SIZE, None, FOLDER)
    assert found.chosen.name == "int8" and found.model == FOLDER / "int8" and tried == [["copies"]]
    assert found.seconds >= 0 and found.run_folder == FOLDER


def test_a_limit_on_size_lets_it_go_on(tried):
    found = search(SOURCE, None, Goal(0.97, Budget(bytes=12), "size"), None, FOLDER)
    assert found.chosen.name == "slim" and tried[-1] == ["copies", "slim"]


def test_with_a_limit_on_time_all_levels_are_tried(tried):
    found = search(SOURCE, None, Goal(0.97, Budget(seconds=1000), "size"), None, FOLDER)
    assert found.chosen.name == "slim" and tried[-1] == ["copies", "slim", "tiny"]


def test_nothing_good_enough_is_a_missed_gate(tried):
    with pytest.raises(GateMissed, match="no candidate keeps 100% of the score; the best is int8"):
        search(SOURCE, None, Goal(0.999, Budget(), "size"), None, FOLDER)


def test_when_the_time_is_over_the_finished_levels_count(tried, monkeypatch):
    run_levels, times = module.run_levels, []

    def interrupt(source, rows, levels, folder, deadline=float("inf")):
        times.append(deadline)
        if len(levels) > 1 and deadline < float("inf"):
            monkeypatch.setattr(module.time, "monotonic", lambda: 1e12)
            raise Interrupted
        return run_levels(source, rows, levels, folder)

    monkeypatch.setattr(module, "run_levels", interrupt)
    found = search(SOURCE, None, Goal(0.5, Budget(seconds=60), "size"), None, FOLDER)
    assert found.chosen.name == "int8" and tried == [["copies"], ["copies"]]
    assert times[0] == float("inf") and times[1] < 1e12  # the first level is always finished


def test_an_interruption_by_the_user_is_passed_on(tried, monkeypatch):
    def interrupt(*given):
        raise Interrupted

    monkeypatch.setattr(module, "run_levels", interrupt)
    with pytest.raises(Interrupted):
        search(SOURCE, None, SIZE, None, FOLDER)


def test_a_single_model_is_built_whatever_its_score(tried):
    found = make_one(SOURCE, None, {"name": "tiny"}, FOLDER)
    assert found.chosen.name == "tiny" and found.model == FOLDER / "tiny" and tried == [["tiny"]]


def test_recipes_that_take_too_long_are_left_out(monkeypatch):
    monkeypatch.setattr(module.time, "monotonic", lambda: 100.0)
    monkeypatch.setattr(module, "recipe_levels", lambda source, rows: [(LEVELS[1], 30.0), (LEVELS[2], 80.0)])
    assert [level.name for level in levels(SOURCE, None, None, 150.0)] == ["quantized copies", "slim"]
    assert [level.name for level in levels(SOURCE, None, None, float("inf"))] == ["quantized copies", "slim", "tiny"]


def test_named_methods_are_one_level(monkeypatch):
    first, second = Level("int8", (), ("int8",)), Level("heads", ({"name": "heads"},), ("int8",))
    monkeypatch.setattr(module, "named_levels", lambda methods, rows: [first, second])
    (level,) = levels(SOURCE, None, ["int8", "heads"], float("inf"))
    assert level == Level("int8 and heads", ({"name": "heads"},), ("int8",))


def test_progress_names_the_candidate():
    assert summary(None) == "no candidate is good enough"
    assert summary(candidate("int8", 0.9, 25_000_000)) == "int8 is good enough, 25.0 MB"


@pytest.mark.parametrize(
    ("goal", "candidates", "message"),
    [
        (SIZE, ALL[:1], "the model has no smaller copy; it is quantized already"),
        (
            Goal(0.999, Budget(), "size"),
            ALL,
            "no candidate keeps 100% of the score; the best is int8 with 0.8950, 99.4%",
        ),
        (Goal(0.97, Budget(bytes=10), "size"), ALL, "is within the budget of 1e-05 MB; the nearest is 4bit"),
        (
            Goal(0.97, Budget(latency_ms=0.1), "size"),
            ALL,
            "budget of 0.1 ms; the nearest is int8 with 2.5e-05 MB and 0.5 ms",
        ),
    ],
)
def test_the_message_names_what_is_missing(goal, candidates, message):
    assert re.match(rf"compress: .*{re.escape(message)}", shortfall(judged_all(goal, *candidates), goal))
