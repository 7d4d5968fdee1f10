"""Paired losses: Tango's interval against its definition, McNemar and Holm by hand, the swap test against all swaps."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from niwaki.evaluate.changes.paired import NORMAL, holm, mcnemar, mean_loss, swap_test, tango_interval


def standard_errors(lost, gained, rows, loss):
    """Tango's statistic, with the nuisance probability that maximizes the likelihood, found numerically."""

    def unlikely(gain):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = [(lost, gain + loss), (gained, gain), (rows - lost - gained, 1 - 2 * gain - loss)]
            return -sum(count * np.log(chance) for count, chance in terms if count)

    edge = 1e-12
    found = minimize_scalar(
        unlikely, bounds=(max(0, -loss) + edge, (1 - loss) / 2 - edge), method="bounded", options={"xatol": 1e-12}
    )
    return (lost - gained - rows * loss) / np.sqrt(rows * (2 * found.x + loss * (1 - loss)))


@pytest.mark.parametrize(("lost", "gained", "rows"), [(9, 2, 61), (1, 7, 30), (3, 3, 40)])
def test_ends_of_the_interval_are_as_many_standard_errors_away(lost, gained, rows):
    low, high = tango_interval(lost, gained, rows)
    assert low < (lost - gained) / rows < high
    assert standard_errors(lost, gained, rows, low) == pytest.approx(NORMAL, abs=1e-3)
    assert standard_errors(lost, gained, rows, high) == pytest.approx(-NORMAL, abs=1e-3)


def test_interval_at_the_edges():
    width = NORMAL**2 / (23 + NORMAL**2)
    assert tango_interval(0, 0, 23) == pytest.approx((-width, width), abs=1e-6)
    assert tango_interval(5, 0, 5)[1] == 1 and tango_interval(0, 5, 5)[0] == -1
    a, b = tango_interval(4, 1, 37), tango_interval(1, 4, 37)
    assert a == pytest.approx((-b[1], -b[0]))


def test_mcnemar_is_the_binomial_test_of_the_changed_rows():
    assert mcnemar(5, 0) == pytest.approx(2 / 32) and mcnemar(0, 0) == 1 and mcnemar(3, 3) == 1


def test_holm_corrects_by_rank():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]).tolist() == [1, 1] and holm([]).tolist() == []


def test_swap_test_agrees_with_all_swaps():
    lost = np.array([0.4, -0.1, 0.3, 0.25, 0.0, 0.2])
    means = [np.dot(signs, lost) / 6 for signs in itertools.product((-1, 1), repeat=6)]
    exact = np.mean(np.abs(means) >= abs(lost.mean()) - 1e-12)
    assert swap_test(lost) == pytest.approx(exact, abs=0.03)


def test_loss_of_right_and_wrong_rows_and_of_other_credits():
    before, after = np.array([1, 1, 1, 0, 1.0]), np.array([1, 0, 0, 1, 1.0])
    assert mean_loss(before, after)["loss"] == pytest.approx(0.2)
    assert mean_loss(before, after)["p"] == 1.0
    some = mean_loss(before / 2, after / 2)
    assert some["loss"] == pytest.approx(0.1) and some["low"] <= 0.1 <= some["high"] and some["p"] > 0.5
