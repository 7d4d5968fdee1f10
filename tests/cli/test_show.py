"""`niwaki show`: names, models and runs."""

import json
import shutil
from pathlib import Path

import pytest


@pytest.mark.parametrize("verb", ["show", "report"])
def test_damaged_plan_is_rejected(niwaki, finished, tmp_path, verb):
    shutil.copytree(finished, tmp_path / "run")
    (tmp_path / "run" / "plan.json").write_text('{"stages": [')
    result = niwaki(verb, tmp_path / "run")
    assert result.code == 3 and len(result.faults) == 1 and "plan.json" in result.err


@pytest.mark.parametrize("plan", ["[]", "{}", '{"stages": 3}', '{"stages": [{}], "task": {}}'])
def test_json_that_is_not_a_plan_is_rejected(niwaki, tmp_path, plan):
    (tmp_path / "plan.json").write_text(plan)
    result = niwaki("show", tmp_path)
    assert result.code == 3 and len(result.faults) == 1 and "plan.json" in result.err, result


def test_unreadable_plan_is_reported(niwaki, finished, tmp_path, monkeypatch):
    shutil.copytree(finished, tmp_path / "run")

    opened = Path.open

    def denied(path: Path, *arguments: str, **named: str):  # root, as whom CI runs, may read everything
        if path.name == "plan.json":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", denied)
    result = niwaki("show", tmp_path / "run")
    assert result.code in (1, 3) and "plan.json" in result.err


@pytest.mark.parametrize("what", ["logits", "rotten_tomatoes", "classification"])
def test_catalogue_entries_are_shown_by_name(niwaki, what):
    value = json.loads(niwaki("show", what, "--json").out)
    assert value["name"] == what
    assert niwaki("show", what).out.strip()


def test_task_and_recipe_of_the_same_name_are_both_shown(niwaki):
    result = niwaki("show", "rotten_tomatoes").out
    assert "max_tokens = " in result and "[[stages]]" in result
    assert json.loads(niwaki("show", "rotten_tomatoes", "--json").out)["also"][0]["toml"]


def test_models_and_runs_are_shown(niwaki, model, finished):
    shape = json.loads(niwaki("show", model, "--json").out)
    assert shape["layers"] == 3 and shape["labels"] == ["bad", "good"] and not shape["plain_transformers"]
    plan = json.loads(niwaki("show", finished, "--json").out)
    assert [stage["name"] for stage in plan["stages"]] == ["teacher", "int8"]
    assert "int8" in niwaki("show", finished).out
