"""The selected model is confirmed, compared on rows that the search never used, and charged with all that was spent."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from niwaki.meter.ledger import Ledger
from niwaki.search import selected as module
from niwaki.search.job import SearchJob
from niwaki.search.search import SearchRecord
from niwaki.search.selected import SOURCE_TRIAL, candidates, payback_of, predictors, ranked, select
from search import searching
from search.contents import content
from search.searching import variant


def searched(folder, *variants, **settings) -> SearchRecord:
    own = [variant("float", 0.8, 80_000_000, 8.0), variant("int8", 0.8, 22_000_000, 4.0)]
    trials = [{"number": number, "status": "done", "variants": [one]} for number, one in enumerate(variants)]
    journal = SimpleNamespace(source={**searching.SOURCE, "variants": own}, trials=trials)
    return SearchRecord(searching.job(folder, **settings), journal, {}, interrupted=False)


@pytest.fixture
def times(monkeypatch):
    """Latencies by model folder, as they are measured again."""
    again = {}

    def race(models, source, task, window):
        name = models["selected"][0].parent.name
        return {"name": name}

    def times_of(result, source):
        latency = again.get(result["name"], 1.0)
        return {
            "selected": {"latency_ms": latency, "p99_ms": latency, "seconds_per_text": 1e-3, "joules_per_1000": 1.0}
        }

    monkeypatch.setattr(SearchJob, "charged", lambda self, what: nullcontext())
    monkeypatch.setattr(module.timing, "race", race)
    monkeypatch.setattr(module.timing, "times_of", times_of)
    return again


def test_copies_of_the_source_are_candidates_and_the_source_is_not(tmp_path):
    found = list(candidates(searched(tmp_path, variant("float", 0.7, 9_000_000, 1.0))))
    assert [(one["trial"], one["format"]) for one in found] == [(SOURCE_TRIAL, "int8"), (0, "float")]


def test_the_smallest_model_within_the_limits_is_selected(tmp_path, times):
    bad, good, large = (
        variant("a", 0.7, 1_000_000, 1.0),
        variant("b", 0.79, 6_000_000, 1.0),
        variant("c", 0.8, 9_000_000, 1.0),
    )
    found = select(searched(tmp_path, bad, large, good, max_mb=10))
    assert (found["trial"], found["missed"]) == (2, [])


def test_a_model_that_is_too_slow_when_timed_again_is_passed_over(tmp_path, times):
    small, large = variant("a", 0.79, 6_000_000, 0.5), variant("b", 0.8, 9_000_000, 0.5)
    times["a"] = 3.0
    assert select(searched(tmp_path, small, large, max_p99_ms=2))["trial"] == 1
    times["b"] = times["int8"] = 2.5  # all are too slow: the nearest
    found = select(searched(tmp_path, small, large, max_p99_ms=2))
    assert found["trial"] != 0 and found["shortfalls"]["max_p99_ms"] == pytest.approx(0.25)
    assert found["missed"] == ["max_p99_ms: p99 latency 2.5 ms, limit 2.0 ms (missed by 25.0%)"]


def test_if_no_model_is_within_the_limits_the_nearest_is_first(tmp_path):
    far, near = variant("a", 0.4, 5_000_000, 1.0), variant("b", 0.76, 5_000_000, 1.0)
    assert [one["key"] for one in ranked(searched(tmp_path, far, near, max_mb=10))][:2] == ["b", "a"]


def test_the_selected_model_of_a_real_search_is_compared_on_the_test_rows(searched):
    test = searched.selected["test"]
    assert test["selected"]["rows"] == searched.content["task"]["rows"]["test"] > 0
    assert test["kept_low"] <= test["kept"] <= test["kept_high"]
    assert test["kept"] == pytest.approx(test["selected"]["value"] / test["source"]["value"])
    assert (searched.folder / "search.json").is_file() and searched.model.predict(["a good film."])


def test_everything_but_making_the_source_is_charged(searched):
    lines = Ledger(searched.run_folder / "ledger.jsonl").lines()
    own = [line for line in lines if line["stage"] == "source"]
    seconds = sum(line["reading"]["seconds"] for line in lines) - sum(line["reading"]["seconds"] for line in own)
    assert searched.content["spent"]["seconds"] == pytest.approx(seconds, rel=0.01)
    assert {line["what"] for line in own} == {"make"}
    assert {"student", "source-int8", "one-layer", "trial 0", "selected"} <= {line["stage"] for line in lines}


def test_payback_needs_pairs():
    one = {
        "race": {"contenders": {"source": {"cpu_seconds_per_1000": [1.0]}, "selected": {"cpu_seconds_per_1000": [1.0]}}}
    }
    assert "1 pairs are too few" in payback_of(one, SimpleNamespace(cpu_seconds=1.0, source="", joules=1.0))["words"]


def test_predictors_are_compared_with_measurements():
    found = {(one["predictor"], one["of"]): one for one in predictors(content()["trials"])}
    assert found[("two timed models", "latency")] == {
        "predictor": "two timed models",
        "of": "latency",
        "models": 3,
        "correlation": pytest.approx(1.0),
    }
    assert found[("FLOPs", "latency")]["correlation"] is None  # all have 100
    assert np.isfinite(found[("size of the shapes", "size")]["correlation"])
