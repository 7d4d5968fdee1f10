"""Trials in the worse half end early."""

import pytest

from niwaki.search.halving import expected_gain, losses_at, promoted

TRIALS = [
    {"part_scores": [0.5, 0.6, 0.9], "part_losses": [3.0, 2.0]},
    {"part_scores": [0.7], "part_losses": [2.5]},
    {"part_scores": [0.8, 0.85, 0.9], "part_losses": [1.0, 1.5]},
    {"status": "rejected"},
    {"part_scores": [0.6, 0.8, 0.9], "part_losses": [1.1, 1.2]},
]


def test_the_gain_is_the_median_over_trials_that_went_on():
    assert expected_gain(TRIALS, 0) == pytest.approx(0.3)  # of 0.4, 0.1 and 0.3
    assert expected_gain(TRIALS, 1) == pytest.approx(0.1)
    assert expected_gain([], 0) == 0.0


def test_losses_of_trials_that_did_not_get_so_far_are_left_out():
    assert losses_at(TRIALS, 0) == [3.0, 2.5, 1.0, 1.1]
    assert losses_at(TRIALS, 1) == [2.0, 1.5, 1.2]


@pytest.mark.parametrize(
    ("value", "earlier", "expected"),
    [
        (9.0, [], True),
        (1.0, [2.0], True),
        (2.0, [1.0], False),
        (2.0, [1.0, 3.0, 4.0], True),
        (2.0, [1.0, 1.5, 4.0], False),
        (1.0, [1.0, 1.0, 1.0], True),
    ],
)
def test_the_better_half_goes_on(value, earlier, expected):
    assert promoted(value, earlier) is expected
