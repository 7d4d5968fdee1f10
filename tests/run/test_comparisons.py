"""Which stages and baselines are compared, and with what. Several seeds are tested in test_seeds.py."""

from types import SimpleNamespace

import numpy as np
import pytest

from niwaki.core.documents import write_document
from niwaki.core.errors import InputError
from niwaki.evaluate import quality
from niwaki.run.comparisons import comparisons

ROWS = 40


def stats(correct: int) -> np.ndarray:
    """Gold and predicted labels of rows, so many of them right."""
    gold = np.arange(ROWS) % 2
    return np.column_stack([gold, np.where(np.arange(ROWS) < correct, gold, 1 - gold)])


class Accuracy:
    def scores(self, example_stats):
        return {"accuracy": float((example_stats[:, 0] == example_stats[:, 1]).mean())}


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A run with three stages and three baselines; returns its plan."""
    monkeypatch.setattr(quality, "RESAMPLES", 50)
    stages = []
    for name, correct in (("first", 30), ("best", 36), ("last", 33)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "example_stats.npy", stats(correct))
        stages.append(SimpleNamespace(spec=SimpleNamespace(name=name), folder=name))
    baselines = [("svm", False, 28), ("majority", False, 20), ("frozen", True, 31)]
    listed = [{"name": name, "transformer": transformer} for name, transformer, _ in baselines]
    write_document(tmp_path / "baseline.json", {"version": 1, "name": "svm", "baselines": listed})
    np.save(tmp_path / "baseline.npy", np.stack([stats(correct) for _, _, correct in baselines]))
    task = SimpleNamespace(metric="accuracy", scorer=Accuracy())
    plan = SimpleNamespace(task=task, stages=stages, repeats=[], recipe=SimpleNamespace(baselines=True, seed=3))
    plan.stage = lambda name: next(stage for stage in stages if stage.spec.name == name)
    return plan, tmp_path


def pairs(found):
    return {(pair["a"], pair["b"]) for pair in found["pairs"]}


def test_stages_are_compared_with_the_first_and_the_best(finished):
    plan, folder = finished
    plan.recipe.baselines = False
    found = comparisons(plan, folder)
    assert pairs(found) == {("best", "first"), ("last", "first"), ("first", "best"), ("last", "best")}
    (pair,) = [pair for pair in found["pairs"] if (pair["a"], pair["b"]) == ("best", "first")]
    assert pair["difference"] == pytest.approx(6 / 40) and pair["low"] <= 6 / 40 <= pair["high"]


def test_the_best_baseline_meets_all_stages_and_transformers_the_best_one(finished):
    found = pairs(comparisons(*finished))
    assert {(a, b) for a, b in found if b == "svm"} == {("first", "svm"), ("best", "svm"), ("last", "svm")}
    assert {(a, b) for a, b in found if b == "frozen"} == {("best", "frozen")}
    assert not any(b == "majority" for _, b in found)


def test_one_seed_has_no_deviation(finished):
    found = comparisons(*finished)
    assert found["metric"] == "accuracy"
    assert found["spread"]["best"] == {"seeds": [3], "values": [0.9], "mean": 0.9, "sd": None}


@pytest.mark.parametrize("content", [None, b"junk"])
def test_missing_or_damaged_statistics_name_the_folder_to_remove(finished, content):
    plan, folder = finished
    path = folder / "last" / "example_stats.npy"
    path.unlink()
    if content:
        path.write_bytes(content)
    with pytest.raises(
        InputError, match=rf"^{path}: cannot be read \(.*\); remove the folder it lies in and run again$"
    ):
        comparisons(plan, folder)
