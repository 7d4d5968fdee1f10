"""Losses of groups: their order, the verdicts, and the limit."""

import numpy as np

from niwaki.evaluate.changes.group_changes import exceeds, group_changes, least_rows, verdict
from niwaki.evaluate.changes.groups import Group


def test_the_group_that_pays_comes_first_and_is_shown():
    rows = 400
    part = np.arange(rows) % 4
    before = np.ones(rows)
    after = np.where((part == 2) & (np.arange(rows) % 3 == 0), 0.0, 1.0)
    groups = [Group("part", str(number), part == number) for number in range(4)]
    found = group_changes([*groups, Group("few", "x", np.arange(rows) < 9)], before, after, before != after, 0)
    assert (found[0]["name"], found[0]["verdict"], found[0]["net_rows_lost"]) == ("2", "loss", 33)
    assert found[0]["loss"] == found[0]["changed"] == 0.33 and found[0]["low"] < 0.33 < found[0]["high"]
    verdicts = {row["name"]: row["verdict"] for row in found}
    assert verdicts == {
        "2": "loss",
        "0": "no difference shown",
        "1": "no difference shown",
        "3": "no difference shown",
        "x": "too few rows",
    }
    assert found[0]["p_corrected"] == 5 * found[0]["p"]


def test_a_loss_can_be_shown_in_few_rows():
    assert verdict({"p_corrected": 0.01, "loss": 0.5, "rows": 20}) == "loss"
    assert verdict({"p_corrected": 0.01, "loss": -0.5, "rows": 20}) == "gain"
    assert verdict({"p_corrected": 0.3, "loss": 0.5, "rows": 20}) == "too few rows" and least_rows(5) == 100


def test_the_limit_needs_the_point_estimate_and_five_rows():
    assert exceeds({"loss": 0.03, "net_rows_lost": 5}, 2)
    assert not exceeds({"loss": 0.02, "net_rows_lost": 50}, 2)
    assert not exceeds({"loss": 0.5, "net_rows_lost": 4}, 2), "four of eight rows are chance"
