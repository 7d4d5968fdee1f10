"""The loop: a killed search goes on as if it had not been killed, and every end leaves what was found."""

import random
from types import SimpleNamespace

import pytest

from niwaki.core.errors import NiwakiError
from niwaki.search import search as module
from niwaki.search.journal import Journal
from niwaki.search.search import Deadline, described, proposals_of, search_key, search_on
from niwaki.search.space import ORDER
from niwaki.train.loop import Interrupted
from search import searching
from search.searching import SOURCE, quality, variant

TRIALS = 20


pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture
def simulated(monkeypatch):
    """The points that were tried; their figures follow from the point, their times do not."""
    found, clock = [], random.Random(0)

    def run_trial(job, forecast, source, earlier, point):
        found.append(dict(point))
        score = 0.8 * quality(point)
        done = {"status": "done", "part_scores": [1.0], "variants": [variant("int8", score, 5_000_000, clock.random())]}
        return {"point": dict(point), "losses": [1 - quality(point)], "seconds": clock.random(), **done}

    monkeypatch.setattr(module, "run_trial", run_trial)
    monkeypatch.setattr(module, "recipe_text", lambda job, point: "")
    return found


def never() -> Deadline:
    return Deadline(lambda: False)


def search(job, path, deadline=None) -> Journal:
    journal = Journal(path)
    search_on(job, None, journal, SOURCE, proposals_of(job, journal), deadline or never())
    return journal


def points(journal):
    return [trial["point"] for trial in journal.trials]


def test_twenty_kills_lead_to_the_same_trials(simulated, tmp_path, monkeypatch):
    whole = search(searching.job(tmp_path, trials=TRIALS, sampler="random"), tmp_path / "whole.jsonl")
    draw, run_trial, path = random.Random(1), module.run_trial, tmp_path / "killed.jsonl"

    def killed(*given):
        if draw.random() < 0.6:
            raise SystemExit
        return run_trial(*given)

    kills, job = 0, searching.job(tmp_path, trials=TRIALS, sampler="random")
    monkeypatch.setattr(module, "run_trial", killed)
    while len(Journal(path).trials) < TRIALS:
        try:
            search(job, path)
        except SystemExit:
            kills += 1
            if kills % 3 == 0:  # killed while it wrote
                with path.open("ab") as file:
                    file.write(b'{"event": "trial", "num')
    assert kills >= 20 and points(Journal(path)) == points(whole)
    assert len({str(point) for point in points(whole)}) == TRIALS


def test_the_recipe_of_each_finished_trial_is_written(simulated, tmp_path):
    search(searching.job(tmp_path, trials=3), tmp_path / "a.jsonl")
    assert sorted(path.name for path in (tmp_path / "trials").iterdir()) == ["000.toml", "001.toml", "002.toml"]


def test_more_trials_go_on_from_there(simulated, tmp_path):
    search(searching.job(tmp_path, trials=4), tmp_path / "a.jsonl")
    assert len(search(searching.job(tmp_path, trials=7), tmp_path / "a.jsonl").trials) == 7
    assert len(simulated) == 7


def test_rejected_points_do_not_count_unless_there_are_very_many(tmp_path, monkeypatch):
    rejected = {"status": "rejected", "reason": "too large", "losses": [2.0], "seconds": 0.0}
    monkeypatch.setattr(module, "run_trial", lambda *given: {"point": dict(given[-1]), **rejected})
    monkeypatch.setattr(module, "MANY", 4)
    assert len(search(searching.job(tmp_path, trials=1), tmp_path / "a.jsonl").trials) == module.MANY


def test_the_search_ends_when_every_point_was_tried(simulated, tmp_path):
    job = searching.job(tmp_path, trials=10_000, sampler="grid")
    journal = search(job, tmp_path / "a.jsonl")
    assert len(journal.trials) == job.space.size()


def test_the_time_of_earlier_starts_counts(monkeypatch):
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    deadline = never()
    assert not deadline.is_over
    deadline.start(2.0, 90.0)
    now = 129.0
    assert not deadline()
    now = 131.0
    assert deadline() and deadline.is_over
    deadline.stop()
    assert not deadline()


def test_a_request_to_stop_interrupts_between_trials(simulated, tmp_path):
    deadline = Deadline(lambda: len(simulated) == 2)
    with pytest.raises(Interrupted):
        search(searching.job(tmp_path, trials=9), tmp_path / "a.jsonl", deadline)
    assert len(Journal(tmp_path / "a.jsonl").trials) == 2


def test_a_journal_of_another_search_is_rejected(simulated, tmp_path):
    job = searching.job(tmp_path, trials=3)
    journal = search(job, tmp_path / "a.jsonl")
    journal.trials[1]["point"] = {ORDER: "other"}
    with pytest.raises(NiwakiError, match="trial 1 is not the one that the seed gives"):
        proposals_of(job, journal)


def test_the_search_ends_if_trials_only_fail(tmp_path, monkeypatch):
    failed = {"status": "failed", "reason": "ValueError: no", "losses": [10.0], "seconds": 0.0}
    monkeypatch.setattr(module, "run_trial", lambda *given: {"point": dict(given[-1]), **failed})
    with pytest.raises(NiwakiError, match="5 trials in a row failed; the last: ValueError: no"):
        search(searching.job(tmp_path), tmp_path / "a.jsonl")
    assert len(Journal(tmp_path / "a.jsonl").trials) == 5


def test_the_key_follows_from_what_decides_the_trials(tmp_path):
    def key(**settings):
        return search_key(searching.job(tmp_path, **settings), ["digest"])

    assert key() == key(minutes=3, trials=9) != key(max_mb=3)
    assert search_key(searching.job(tmp_path), ["other"]) != key()


def test_a_point_is_described_without_what_is_off():
    space = SimpleNamespace(active=lambda point: [SimpleNamespace(path=path) for path in point])
    point = {ORDER: "a", "stages.a.methods.ffn.keep": 0.5, "stages.a.methods.heads.keep": "off"}
    assert described(space, point) == "stages a, a.ffn.keep 0.5"
    assert described(space, {"stages.a.x": "off"}) == "all off"
