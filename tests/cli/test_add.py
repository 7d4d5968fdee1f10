"""`niwaki add`: the command line of niwaki.add_head, which tests/run/test_add_head.py tests."""

import json

from engines.kinds import model_of, saved
from niwaki.cli._app import run
from run.test_add_head import on_trunk_of


def test_add_stores_a_head_under_the_name_of_its_folder(tmp_path, capsys):
    root = model_of("label")
    folder, source = saved(root, tmp_path / "trunk"), saved(on_trunk_of(root, "labels", "bert"), tmp_path / "My Topics")
    assert run(["add", str(folder), str(source), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["head"] == "my-topics" and found["heads"] == ["my-topics"] and found["bytes"] > 0
    assert run(["add", str(folder), str(source), "--name", "again"]) == 0
    assert "has the heads again, my-topics" in capsys.readouterr().out
    assert run(["add", str(folder), str(source), "--name", "all"]) == 3
    assert "choose another name" in capsys.readouterr().err
