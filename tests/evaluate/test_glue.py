"""The GLUE average."""

import pytest

from niwaki.evaluate.glue import TASKS, average, task_score

SCORES = dict(zip(TASKS, (0.5, 0.9, 0.8, 0.7, 0.6, 0.8, 0.9, 0.6, 0.5), strict=True))


def test_each_task_has_the_same_weight():
    found = average(SCORES)
    assert found["average"] == pytest.approx(6.3 / 9) and found["without_wnli"] == pytest.approx(5.8 / 8)
    assert found["missing"] == []


def test_without_wnli_eight_tasks_are_averaged():
    some = {name: value for name, value in SCORES.items() if name != "wnli"}
    found = average(some)
    assert (found["average"], found["missing"]) == (None, ["wnli"])
    assert found["without_wnli"] == pytest.approx(5.8 / 8)


def test_a_missing_task_gives_no_average():
    found = average({"cola": 0.5, "wnli": 0.5, "unknown": 1.0})
    assert found["average"] is None and found["without_wnli"] is None
    assert found["missing"] == [name for name in TASKS if name not in ("cola", "wnli")]


def test_test_sets_of_a_task_are_averaged_first():
    matched = {"value": 0.8, "parts": {"mismatched": {"value": 0.84}}}
    assert task_score(matched) == pytest.approx(0.82)
    assert task_score({"score": {"value": 0.7}}) == 0.7  # of a result.json
    assert task_score({"value": 0.6}) == 0.6  # of `niwaki eval --json`
