"""The signed-rank test on validation rows, by hand and against scipy, and how the loop uses it."""

import numpy as np
import pytest
from scipy.stats import binomtest

from niwaki.methods.adapt.linear_probe import LinearProbe
from niwaki.train import loop
from niwaki.train.loop import _Fit
from niwaki.train.validation import chance_of
from train.jobs import job


def changed(improved: int, worse: int, same: int) -> tuple[np.ndarray, np.ndarray]:
    before = np.array([1.0] * improved + [0.0] * worse + [0.5] * same)
    return before, np.array([0.0] * improved + [1.0] * worse + [0.5] * same)


@pytest.mark.parametrize(
    ("improved", "worse", "chance"),
    [(0, 0, 1.0), (1, 0, 1 / 2), (4, 0, 1 / 16), (5, 0, 1 / 32), (5, 1, 7 / 64), (0, 3, 1.0), (1, 1, 3 / 4)],
)
def test_chance_is_that_of_a_fair_coin(improved, worse, chance):
    assert chance_of(*changed(improved, worse, 7)) == pytest.approx(chance)


def test_chance_is_that_of_scipy_for_many_rows():
    for improved, worse in ((130, 101), (1000, 970), (31, 44)):
        wanted = binomtest(improved, improved + worse, alternative="greater").pvalue
        assert chance_of(*changed(improved, worse, 3)) == pytest.approx(wanted)


def test_larger_changes_count_more():
    """Ranks 1 to 5. With the smallest negative, 2 of 32 assignments of signs have a negative sum of at most 1; with the largest, 10 of at most 5."""
    assert chance_of(np.array([1.0, 5, 6, 7, 8]), np.array([2.0, 3, 3, 3, 3])) == pytest.approx(2 / 32)
    assert chance_of(np.array([1.0, 5, 6, 7, 8]), np.array([9.0, 3, 3, 3, 3])) == pytest.approx(10 / 32)


class Given:
    """Scores and errors that each validation is given, in turn."""

    def __init__(self, scores, errors):
        self.scores, self.left = iter(scores), iter(errors)

    def score(self, validation):
        return next(self.scores)

    def errors(self, validation):
        return next(self.left, None)


def validated(task, folder, chance: float, errors, monkeypatch, **settings):
    """The state after a start and validations of which each scores better than the one before."""
    fitting = _Fit(job(task, folder, methods=[LinearProbe(chance=chance)], **settings))
    given = Given(np.arange(1, 1 + len(errors)) / 10, [np.array(rows, dtype=float) for rows in errors])
    monkeypatch.setattr(type(fitting.job.objective), "score", lambda self, validation: given.score(validation))
    monkeypatch.setattr(type(fitting.job.objective), "errors", lambda self, validation: given.errors(validation))
    for step in range(len(errors)):
        fitting.state.step = step
        fitting._validate()
    return fitting.state


WRONG, FOUR, FIVE = [1] * 6, [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1]  # 4 and 5 of 6 wrong answers become right


def test_the_start_stays_best_unless_the_lead_is_more_than_chance(task, tmp_path, monkeypatch):
    """1/16 of fair coins are as good as four of four, 1/32 as good as five of five."""
    assert validated(task, tmp_path / "a", 0.05, [WRONG, FOUR, FOUR], monkeypatch).best_step == 0
    assert validated(task, tmp_path / "b", 0.05, [WRONG, FOUR, FIVE], monkeypatch).best_step == 2
    assert validated(task, tmp_path / "c", 0.07, [WRONG, FOUR], monkeypatch).best_step == 1
    assert validated(task, tmp_path / "d", 1.0, [WRONG, WRONG], monkeypatch).best_step == 1


def test_weights_with_a_higher_score_do_not_use_up_patience(task, tmp_path, monkeypatch):
    state = validated(task, tmp_path, 0.05, [WRONG, FOUR, FOUR], monkeypatch, patience=1)
    assert state.validations_without_gain == 0 and not state.stopped


def test_tasks_without_errors_of_rows_compare_scores(task, tmp_path, monkeypatch):
    fitting = _Fit(job(task, tmp_path, methods=[LinearProbe()]))
    monkeypatch.setattr(type(fitting.job.objective), "errors", lambda self, validation: None)
    assert fitting._beats_start(None)


def test_methods_that_need_progress_have_no_start_to_keep(task, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "min_progress_of", lambda methods, labelled: 0.5)
    assert _Fit(job(task, tmp_path, methods=[LinearProbe()])).max_chance is None
