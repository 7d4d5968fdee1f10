"""`niwaki merge`: the command line of niwaki.merge, which tests/api/test_merging.py tests."""

import tiny
from engines.kinds import saved
from niwaki.cli._app import run
from niwaki.cli.merge import scores


def test_it_names_where_each_model_is_answered(tmp_path, capsys):
    one, two = (saved(tiny.model("bert", layers=1, seed=seed), tmp_path / f"m{seed}") for seed in (1, 2))
    assert run(["merge", str(one), str(two), "--out", str(tmp_path / "out"), "--weight", "1", "--weight", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [["m1", str(tmp_path / "out")], ["m2", str(tmp_path / "out")]]
    assert run(["merge", str(one), str(two), "--how", "ties"]) == 2
    assert "give --base, or --how average" in capsys.readouterr().err


def test_scores_are_shown_with_the_interval_of_their_difference():
    paired = {"difference": -0.02, "low": -0.05, "high": 0.01}
    entry = {"metric": "accuracy", "before": 0.9, "after": 0.88, "paired": paired}
    assert scores(entry) == "  accuracy 0.9000 → 0.8800 (-0.0200, -0.0500 to +0.0100)"
    assert scores({"folder": "x"}) == ""
