"""All problems of a recipe are reported together."""

import pytest

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.run.recipe import parse
from niwaki.run.validation.validate import INPUT_CHECKS, STAGE_CHECKS, check_inputs, recipe_problems, validate


def recipe(model, rows, **more):
    stages = [{"name": "teacher", "methods": [{"use": "student", "layers": 99}]}]
    return parse({"model": str(model), "task": "classification", "data": {"path": str(rows)}, "stages": stages, **more})


def test_problems_of_different_checks_come_together(bert_folder, rows_csv, tmp_path):
    (tmp_path / "vectors.txt").write_text("no vectors\n")
    (tmp_path / "file").write_text("")
    more = {"vectors": str(tmp_path / "vectors.txt"), "cache": {"folder": str(tmp_path / "file")}}
    with pytest.raises(InputError) as caught:
        validate(recipe(bert_folder, rows_csv, **more))
    found = "\n".join(caught.value.faults)
    assert all(word in found for word in ("vectors.txt", "cache.folder", "stage 'teacher': "))


def test_without_models_no_stage_is_checked(rows_csv, tmp_path):
    with pytest.raises(InputError) as caught:
        validate(recipe(tmp_path / "nowhere", rows_csv))
    assert len(caught.value.faults) == 1


def test_faulty_keys_are_skipped(rows_csv, tmp_path):
    problems = Problems()
    draft = check_inputs(recipe(tmp_path / "nowhere", rows_csv), problems, ["model", "data"])
    assert problems.faults == [] and not draft.has_rows and not draft.folders


def test_problems_are_sorted_by_the_key_that_causes_them(tmp_path):
    tested = parse({"stages": [{"name": "a"}]})
    keys = ["data", "meter", "vectors", "cascade", "search", "stages"]
    assert recipe_problems(tested, [], []) == {key: [] for key in keys}
    changed = tested.model_copy(update={"vectors": str(tmp_path / "nowhere"), "task": "unknown"})
    found = recipe_problems(changed, [], [])
    assert [key for key, problems in found.items() if problems] == ["data", "vectors"]
    assert recipe_problems(changed, ["task"], [])["data"] == []


def test_every_check_is_listed_once():
    assert len({*INPUT_CHECKS, *STAGE_CHECKS}) == len(INPUT_CHECKS) + len(STAGE_CHECKS)
