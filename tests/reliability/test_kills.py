"""Ten kill -9: inside saves, at stage borders, while recovering, anywhere. `python benchmarks/kills.py 200` is the long form."""

import random

from reliability import aimed
from reliability.aimed import Aim
from reliability.same import differences, ledger_faults

AIMED = [Aim("save", 4), Aim("recovery", 12), Aim("save", 33), Aim("border", 6), Aim("recovery", 20), Aim("save", 17), Aim("border", 15)]  # fmt: skip


def killed_like_undisturbed(tmp_path, recipe_file, undisturbed, aims) -> list[str]:
    killed = aimed.kill_often(recipe_file, tmp_path / "run", tmp_path / "log", iter(aims))
    assert differences(tmp_path / "run", undisturbed) == []
    assert ledger_faults(tmp_path / "run", killed.open_attempts) == []
    assert killed.repeated == 0
    return killed.places


def test_killed_where_it_is_worst_it_ends_like_a_run_that_nobody_disturbed(tmp_path, recipe_file, undisturbed):
    assert killed_like_undisturbed(tmp_path, recipe_file, undisturbed, AIMED) == [aim.place for aim in AIMED]


def test_killed_at_three_random_moments(tmp_path, recipe_file, timed):
    undisturbed, whole = timed
    moments = random.Random(3)
    aims = [Aim(seconds=moments.uniform(0.1, 0.3) * whole) for _ in range(3)]
    assert killed_like_undisturbed(tmp_path, recipe_file, undisturbed, aims)
