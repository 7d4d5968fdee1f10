"""Learning-rate factors, computed by hand."""

import pytest

from niwaki.train.schedules import schedule


def test_learning_rates_match_values_computed_by_hand():
    assert [round(schedule(step, 10, 0.2), 4) for step in range(10)] == [
        0.5,
        1.0,
        1.0,
        0.875,
        0.75,
        0.625,
        0.5,
        0.375,
        0.25,
        0.125,
    ]
    assert [schedule(step, 4, 0.0) for step in range(4)] == [1.0, 0.75, 0.5, 0.25]
    assert schedule(0, 1, 0.1) == 1.0
    assert all(0 < schedule(step, total, 0.9) <= 1 for total in (1, 2, 3, 7) for step in range(total))


def test_cosine_and_wsd_match_values_computed_by_hand():
    assert [round(schedule(step, 6, 0.0, "cosine"), 4) for step in range(6)] == [1.0, 0.933, 0.75, 0.5, 0.25, 0.067]
    assert [schedule(step, 10, 0.2, "wsd") for step in range(10)] == [0.5, 1, 1, 1, 1, 1, 1, 1, 1, 0.5]


@pytest.mark.parametrize("kind", ["linear", "cosine", "wsd"])
def test_the_rate_never_vanishes_and_never_exceeds_the_highest(kind):
    for total in (1, 2, 3, 7, 50):
        for warmup in (0.0, 0.1, 0.9):
            assert all(0 < schedule(step, total, warmup, kind) <= 1 for step in range(total))
