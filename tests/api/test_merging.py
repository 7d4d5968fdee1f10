"""The measured cost of merging. Numbers of the weights are tested in tests/models and tests/run."""

import json

import numpy as np
import pytest

import niwaki
import tiny
from engines.kinds import saved
from niwaki.api.merging import one_for_each
from niwaki.cli._app import run
from niwaki.core.errors import UsageError


def test_rows_are_given_for_all_or_for_each():
    assert one_for_each([], 2, "data") == ["", ""] and one_for_each(["a"], 2, "data") == ["a", "a"]
    assert one_for_each(["a", "b"], 2, "data") == ["a", "b"]
    with pytest.raises(UsageError, match="3 data for 2 models"):
        one_for_each(["a"] * 3, 2, "data")
    with pytest.raises(UsageError, match="is a list"):
        niwaki.merge("a")


def test_scores_before_and_after_are_those_of_evaluate(tmp_path, capsys):
    one, two, base = (saved(tiny.model("bert", layers=1, seed=seed), tmp_path / f"m{seed}") for seed in (1, 2, 3))
    tiny.write_csv(tmp_path / "rows.csv", 60)
    words = ["merge", str(one), str(two), "--out", str(tmp_path / "out"), "--data", str(tmp_path / "rows.csv")]
    assert run([*words, "--how", "arithmetic", "--base", str(base), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["models"]
    assert found["m2"]["before"] == niwaki.api.evaluate(two, data=tmp_path / "rows.csv")["value"]
    assert found["m2"]["after"] == niwaki.api.evaluate(tmp_path / "out", data=tmp_path / "rows.csv")["value"]
    assert np.isclose(found["m2"]["paired"]["difference"], found["m2"]["after"] - found["m2"]["before"])
