"""The whole comparison: of a model with itself nothing changed; of two, every part says the same as its own function."""

import json

import numpy as np
import pytest

from niwaki.evaluate.changes import comparison
from niwaki.evaluate.changes.comparison import Side, compare, stage_changes


@pytest.fixture(autouse=True)
def _short_race(monkeypatch):
    monkeypatch.setattr(comparison, "RACE_TEXTS", 4)
    monkeypatch.setattr(comparison, "SINGLES", 1)


def test_a_model_compared_with_itself_gives_zero_everywhere(sides, rows):
    found = compare(sides[0], sides[0], rows, speed=False)
    assert found["churn"]["changed"]["count"] == found["difference"]["difference"] == 0 and found["texts"] == []
    assert all(row["loss"] == row["changed"] == 0 and row["p_corrected"] == 1 for row in found["groups"])
    assert all(row["verdict"] in ("no difference shown", "too few rows") for row in found["groups"])
    assert found["calibration"]["a"] == found["calibration"]["b"]
    assert all(row["more"]["loss"] == 0 for row in found["robustness"])
    assert np.abs(found["layers"]["attention"]["layers"]).max() < 1e-6


def test_two_models_are_compared_in_every_part(sides, rows):
    found = compare(*sides, rows)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    counts = {name: part["count"] for name, part in found["churn"].items()}
    assert counts["changed"] == counts["fixed"] + counts["broken"] + counts["neither"] == len(found["texts"]) > 0
    scores = [found["models"][side]["score"]["value"] for side in "ab"]
    assert found["difference"]["difference"] == pytest.approx(scores[1] - scores[0])
    assert (counts["fixed"] - counts["broken"]) / rows.table.num_rows == pytest.approx(scores[1] - scores[0])
    topics = [row for row in found["groups"] if row["kind"] == "topic"]
    assert sum(row["rows"] * row["loss"] for row in topics) == pytest.approx(counts["broken"] - counts["fixed"])
    assert set(found["speed"]["contenders"]) == {"a", "b"} and found["models"]["b"]["bytes"] > 0
    assert found["left_out"] == ["Rows that change across seeds (PIE): give further seeds of both models."]
    again = compare(*sides, rows, speed=False)
    assert {name: again[name] for name in ("churn", "groups", "robustness", "calibration", "layers")} == {
        name: found[name] for name in ("churn", "groups", "robustness", "calibration", "layers")
    }


def test_further_seeds_give_exemplars(sides, rows, predictors):
    more = [Side(side.name, side.predictor, [side.predictor] * 3) for side in sides]
    found = compare(*more, rows, speed=False)["pie"]
    assert (
        found["seeds"] == [4, 4] and found["halves"]["both"] == found["halves"]["first"] == found["share"]["count"] > 0
    )
    assert found["halves"]["between_dense"]["count"] == 0 and found["halves"]["p"] < 1e-3


def test_stages_are_compared_with_the_first(sides, rows):
    first, second = stage_changes(sides, rows)
    assert first["name"] == "a" and "churn" not in first and second["churn"]["changed"]["count"] > 0
