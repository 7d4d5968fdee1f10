"""SCAN."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.scan import Scan
from tasks.rows import counts, folder


def test_splits_are_those_of_the_chosen_experiment(tmp_path):
    rows = [{"split": "x", "command": f"jump {n}", "actions": f"I_JUMP I_RUN_{n}"} for n in range(60)]
    parts = {"simple-train": rows[:40], "simple-test": rows[40:], "length-train": rows[:30], "length-test": rows[30:]}
    folder(tmp_path / "scan", **parts)
    task = Scan(path=str(tmp_path))
    assert counts(task) == {"train": 38, "validation": 2, "test": 20} and task.grammar() == b""
    assert counts(Scan(path=str(tmp_path), which="length"))["test"] == 30
    test = task.splits()["test"]
    assert task.inputs(test)[0] == "jump 40" and task.scorer.scores(
        task.scorer.example_stats(["I_JUMP"] * 20, test)
    ) == {"exact": 0.0}
    with pytest.raises(InputError, match=r"has no addprim_jump-train\.parquet, which task 'scan' needs"):
        Scan(path=str(tmp_path), which="addprim_jump").splits()
