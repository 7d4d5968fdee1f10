"""Known temperatures are recovered, thresholds by hand, and the score is kept as often as claimed."""

import numpy as np
import pytest

from niwaki.answers._answer_type import softmax
from niwaki.evaluate.thresholds import answered_by, candidates, choose_threshold, fit_temperature
from niwaki.tasks._metrics import accuracy


class FakeTask:
    metric = "accuracy"

    @property
    def scorer(self):
        return self

    def scores(self, example_stats):
        return {"accuracy": accuracy(*example_stats.T)}


def drawn(generator, rows, skills=(1.5, 3.0)):
    """Models that are right as often as they say, once their logits are divided by 2."""
    gold = generator.integers(0, 2, rows)
    hard = np.abs(generator.normal(size=rows)) ** 0.5
    common = generator.normal(size=(rows, 2))
    logits = []
    for skill in skills:
        signal = np.zeros((rows, 2))
        signal[np.arange(rows), gold] = skill / hard
        logits.append(2 * (signal + 0.5 * common + 0.85 * generator.normal(size=(rows, 2))))
    return gold, logits


def sure(logits):
    return [softmax(one).max(axis=1) for one in logits]


def example_stats(logits, gold):
    return [np.stack([one.argmax(axis=1), gold], axis=1) for one in logits]


@pytest.mark.parametrize("true", [0.5, 1.0, 3.0])
def test_known_temperature_is_recovered(true):
    generator = np.random.default_rng(1)
    honest = generator.normal(size=(20_000, 3)) * 2
    gold = (softmax(honest).cumsum(axis=1) < generator.random(20_000)[:, None]).sum(axis=1)
    assert fit_temperature(honest * true, gold) == pytest.approx(true, rel=0.05)


def test_unknown_labels_are_ignored():
    logits = np.random.default_rng(0).normal(size=(500, 2))
    gold = np.random.default_rng(1).integers(0, 2, 500)
    more = np.concatenate([logits, logits[:9]])
    assert fit_temperature(more, np.concatenate([gold, np.full(9, 2)])) == fit_temperature(logits, gold)


def test_answered_by():
    confidence = np.array([[0.9, 0.5, 0.7], [0.1, 0.8, 0.6]])
    assert answered_by(confidence, 0.8).tolist() == [0, 1, 2]
    assert answered_by(confidence, 0.6).tolist() == [0, 1, 0]
    assert answered_by(confidence, 1.1).tolist() == [2, 2, 2]


def test_candidates_go_down_and_let_more_and_more_stop():
    confidence = np.random.default_rng(2).random((2, 1000))
    found = candidates(confidence)
    stopping = [(answered_by(confidence, threshold) < 2).sum() for threshold in found]
    assert (np.diff(found) < 0).all() and (np.diff(stopping) > 0).all()
    assert stopping[0] <= 10 and stopping[-1] == 1000 and max(np.diff(stopping)) <= 10


def test_search_stops_at_the_first_failed_test(monkeypatch):
    gold, logits = drawn(np.random.default_rng(3), 400)
    seen = []

    def tested(task, best, other, keep, level):
        seen.append(other)
        return len(seen) != 7

    monkeypatch.setattr("niwaki.evaluate.thresholds.keeps_score", tested)
    chosen = choose_threshold(FakeTask(), sure(logits), example_stats(logits, gold), 0.9, 0.95)
    assert len(seen) == 7 and (chosen.example_stats == seen[5]).all()
    assert chosen.threshold == candidates(np.stack(sure(logits)[:1]))[5]
    monkeypatch.setattr("niwaki.evaluate.thresholds.keeps_score", lambda *_: False)
    assert choose_threshold(FakeTask(), sure(logits), example_stats(logits, gold), 0.9, 0.95) is None


def test_score_retention_has_its_coverage():
    """60 draws of 300 rows, 90 % sure: of 6 failures expected at the very most, 11 or more have a chance of 3 in 100."""
    keep, level, failures, early = 0.97, 0.9, 0, []
    for seed in range(60):
        generator = np.random.default_rng(seed)
        gold, logits = drawn(generator, 300)
        temperatures = [fit_temperature(one, gold) for one in logits]
        logits = [one / t for one, t in zip(logits, temperatures, strict=True)]
        chosen = choose_threshold(FakeTask(), sure(logits), example_stats(logits, gold), keep, level)
        gold, logits = drawn(generator, 40_000)
        by = answered_by(np.stack(sure([logits[0] / temperatures[0]])), chosen.threshold if chosen else 2.0)
        every = np.stack(example_stats(logits, gold))
        failures += accuracy(*every[by, np.arange(40_000)].T) < keep * accuracy(*every[-1].T)
        early.append((by == 0).mean())
    assert failures <= 10 and np.mean(early) > 0.5
