"""Ten kill -9: inside saves, at stage borders, while recovering, anywhere. `python benchmarks/kills.py 200` is the long form."""

import random
from itertools import islice

import pytest

from reliability import aimed
from reliability.aimed import Aim
from reliability.same import differences, ledger_faults

AIMED = [
    Aim("save", 4),
    Aim("recovery", 12),
    Aim("save", 33),
    Aim("border", 6),
    Aim("recovery", 20),
    Aim("save", 17),
    Aim("border", 15),
]


def killed_like_undisturbed(tmp_path, recipe_file, undisturbed, aims) -> list[str]:
    killed = aimed.kill_often(recipe_file, tmp_path / "run", tmp_path / "log", iter(aims))
    assert differences(tmp_path / "run", undisturbed) == []
    assert ledger_faults(tmp_path / "run", killed.open_attempts) == []
    assert killed.repeated == 0
    return killed.places


def test_killed_where_it_is_worst_it_ends_like_a_run_that_nobody_disturbed(tmp_path, recipe_file, undisturbed):
    assert killed_like_undisturbed(tmp_path, recipe_file, undisturbed, AIMED) == [aim.place for aim in AIMED]


@pytest.mark.slow
def test_killed_at_three_random_calls(tmp_path, recipe_file, undisturbed):
    """Calls are counted and not seconds: how fast a shared machine is changes from minute to minute."""
    draw = random.Random(3)
    aims = [Aim("any", draw.randint(40, 400)) for _ in range(3)]
    assert len(killed_like_undisturbed(tmp_path, recipe_file, undisturbed, aims)) == 3


@pytest.mark.slow
def test_twenty_drawn_kills(tmp_path, recipe_file, timed):
    undisturbed, whole = timed
    weights = {"save": 4, "border": 2, "recovery": 2, "random": 2}
    places: list[str] = []
    for number in range(20):
        (tmp_path / str(number)).mkdir()
        aims = islice(aimed.drawn_aims(random.Random(number), whole, weights), 20 - len(places))
        places += killed_like_undisturbed(tmp_path / str(number), recipe_file, undisturbed, aims)
        if len(places) == 20:
            break
    assert len(places) == 20
