"""Churn and its parts, by hand; the exact interval against published values."""

import numpy as np
import pytest

from niwaki.evaluate.changes.churn import changed_rows, churn, share


def test_changes_are_split_by_what_they_do_to_the_credit():
    changed = changed_rows(list("aabba"), list("abaca"), str.__eq__)
    assert changed.tolist() == [False, True, True, True, False]
    found = churn(changed, np.array([1, 1, 0, 0, 1.0]), np.array([1, 0, 1, 0, 1.0]))
    assert {name: part["count"] for name, part in found.items()} == {
        "changed": 3,
        "fixed": 1,
        "broken": 1,
        "neither": 1,
    }
    assert found["changed"]["value"] == 0.6


def test_interval_of_a_share_is_clopper_and_pearsons():
    assert (share(0, 10)["low"], share(0, 10)["high"]) == pytest.approx((0, 1 - 0.025**0.1))
    found = share(4, 20)  # 0.0573 and 0.4366 in the tables of Clopper and Pearson
    assert (found["value"], found["low"], found["high"]) == pytest.approx((0.2, 0.0573, 0.4366), abs=1e-4)
