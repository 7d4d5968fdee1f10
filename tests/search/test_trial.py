"""A trial is rejected before any work, ended early, or measured in every format."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint
from niwaki.search import trial as module
from niwaki.search.job import SearchJob, Variant
from niwaki.search.space import ORDER
from niwaki.search.trial import recipe_text, run_trial
from search import searching
from search.searching import SOURCE, Sizes

POINT = {
    ORDER: "student",
    "stages.student.methods.vocabulary.min_count": 1,
    **{
        f"stages.student.methods.student.{name}": value
        for name, value in {"layers": 1, "hidden": 16, "heads": 2, "ffn": 64}.items()
    },
}
SCORES = {"student": 0.4, "student-part2": 0.6, "student-part3": 0.76}


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A job that makes nothing; the names of the stages it should make."""
    stages: list[str] = []
    monkeypatch.setattr(SearchJob, "plan", lambda self, recipe: SimpleNamespace(recipe=recipe))
    monkeypatch.setattr(SearchJob, "make", lambda self, plan, stage: stages.append(stage))
    monkeypatch.setattr(SearchJob, "charged", lambda self, what: nullcontext())
    monkeypatch.setattr(SearchJob, "score", lambda self, plan, stage: SCORES[stage])
    monkeypatch.setattr(
        SearchJob,
        "variants",
        lambda self, plan, last, kinds: [
            Variant(kind, "native", fingerprint(kind), tmp_path / kind, 0.76, int(9e6), 200) for kind in kinds
        ],
    )
    times = {**searching.TIME, "latency_ms": 3.0}
    monkeypatch.setattr(module.timing, "race", lambda models, *given: dict.fromkeys(models, times))
    monkeypatch.setattr(module.timing, "times_of", lambda result, source: result)
    return stages


def test_a_trial_is_trained_in_parts_and_measured(work, tmp_path):
    found = run_trial(searching.job(tmp_path), Sizes(), SOURCE, [], POINT)
    assert found["status"] == "done" and found["point"] == POINT
    assert work == ["student", "student-part2", "student-part3", "student-part3", "student-part3-int8"]
    assert found["part_scores"] == pytest.approx([0.5, 0.75, 0.95])
    assert [one["format"] for one in found["variants"]] == ["float", "int8"]
    # keeps 0.95 of 0.97, so 1 plus the missing share
    assert found["losses"] == pytest.approx([1 + 1 - 0.95 / 0.97])
    assert found["variants"][0]["latency_ms"] == 3.0  # measured
    assert found["variants"][0]["predicted"]["latency_ms"] == pytest.approx(2.0)  # 8 ms · 200/800 FLOPs


def test_the_sampler_learns_nothing_from_measured_times(work, tmp_path, monkeypatch):
    job = searching.job(tmp_path, objective="latency", keep=0.9)
    first = run_trial(job, Sizes(), SOURCE, [], POINT)
    slow = {**searching.TIME, "latency_ms": 900.0, "p99_ms": 900.0}
    monkeypatch.setattr(module.timing, "race", lambda models, *given: dict.fromkeys(models, slow))
    second = run_trial(job, Sizes(), SOURCE, [], POINT)
    assert first["losses"] == second["losses"] == pytest.approx([0.125 / 1.125])  # int8: 1 of 8 ms, x / (1 + x)


def test_formats_over_the_size_limit_are_skipped(work, tmp_path):
    found = run_trial(searching.job(tmp_path, max_mb=10), Sizes(), SOURCE, [], POINT)
    assert [one["format"] for one in found["variants"]] == ["int8"] and "student-part3" in work


def test_a_point_that_is_too_large_is_rejected_before_any_work(work, tmp_path):
    found = run_trial(searching.job(tmp_path, max_mb=4), Sizes(), SOURCE, [], POINT)
    assert found["status"] == "rejected" and found["reason"] == "at least 5 MB by its shapes, limit 4.0 MB"
    assert found["losses"] == pytest.approx([1.25]) and work == []


def test_an_impossible_point_is_rejected(work, tmp_path, monkeypatch):
    def reject(*given):
        raise InputError("student: layers 9 is more than the start model's 6")

    monkeypatch.setattr(Sizes, "sizes", reject)
    found = run_trial(searching.job(tmp_path), Sizes(), SOURCE, [], POINT)
    assert found["status"] == "rejected" and "layers 9" in found["reason"] and work == []


def test_a_trial_in_the_worse_half_ends_after_a_part(work, tmp_path):
    better = {"part_scores": [0.9, 0.95, 0.97], "part_losses": [0.2, 0.2]}
    found = run_trial(searching.job(tmp_path), Sizes(), SOURCE, [better, better], POINT)
    assert found["status"] == "stopped" and work == ["student"] and len(found["part_scores"]) == 1
    assert found["reason"] == "in the worse half after part 1 of 3 of its last training"
    # 0.5 + the usual gain of 0.07 keeps 0.57
    assert found["losses"] == pytest.approx([1 + 1 - 0.57 / 0.97])


def test_a_grid_ends_no_trial_early(work, tmp_path):
    better = {"part_scores": [0.9, 0.95, 0.97], "part_losses": [0.2, 0.2]}
    found = run_trial(searching.job(tmp_path, sampler="grid"), Sizes(), SOURCE, [better, better], POINT)
    assert found["status"] == "done" and len(found["part_scores"]) == 3


def test_what_fails_is_recorded(work, tmp_path, monkeypatch):
    def explode(self, plan, stage):
        raise FloatingPointError("loss is nan\nmore")

    monkeypatch.setattr(SearchJob, "make", explode)
    found = run_trial(searching.job(tmp_path), Sizes(), SOURCE, [], POINT)
    assert (found["status"], found["reason"]) == ("failed", "FloatingPointError: loss is nan")
    assert found["losses"] == [module.WORST]


@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt()])
def test_a_full_disk_and_an_interruption_end_the_search(work, tmp_path, monkeypatch, error):
    def stop(self, plan, stage):
        raise error

    monkeypatch.setattr(SearchJob, "make", stop)
    with pytest.raises(type(error)):
        run_trial(searching.job(tmp_path), Sizes(), SOURCE, [], POINT)


def test_for_a_front_score_and_cost_are_learned(work, tmp_path):
    found = run_trial(searching.job(tmp_path, sampler="nsga2", keep=0.9), Sizes(), SOURCE, [], POINT)
    assert found["losses"] == pytest.approx([1 / 0.95, 9 / 80])


def test_the_recipe_of_a_trial_has_its_copies(tmp_path):
    text = recipe_text(searching.job(tmp_path), POINT)
    assert 'name = "student-part3-4bit"' in text and "layers = 1" in text.replace('"layers"', "layers")
