"""Which stages a recipe may name for its cascade."""

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse, read, to_toml

STAGES = ({"name": "teacher"}, {"name": "whole", "methods": [{"use": "int8"}]})


def recipe(folder, rows, cascade, stages=STAGES, **more):
    values = {"model": str(folder), "task": "classification", "data": {"path": str(rows)}, "quantize": ["int8"]}
    return parse({**values, **more, "cascade": cascade, "stages": list(stages)})


@pytest.mark.parametrize(
    ("cascade", "message"),
    [
        ({"stages": ["techer", "whole"]}, "'techer' is neither a stage nor a quantized copy of one, did you mean"),
        ({"stages": ["whole", "whole"]}, "names a stage twice"),
        ({"stages": ["teacher-4bit", "teacher"]}, "'teacher-4bit' is neither"),
        ({"stages": []}, "cascade.stages"),
        ({"stages": ["whole", "teacher"], "keep": 1.5}, "cascade.keep"),
        ({"stages": ["whole", "teacher"], "level": 0.5}, "cascade.level"),
        ({"stage": ["whole", "teacher"]}, "did you mean 'stages'?"),
    ],
)
def test_invalid_settings_are_rejected_when_the_recipe_is_read(bert_folder, rows_csv, cascade, message):
    with pytest.raises(InputError) as caught:
        recipe(bert_folder, rows_csv, cascade)
    assert any(message in fault for fault in caught.value.faults), caught.value.faults


def test_stage_with_the_name_of_the_folder_is_rejected(bert_folder, rows_csv):
    stages = [{"name": "cascade"}, {"name": "other"}]
    with pytest.raises(InputError, match="a stage is called 'cascade' too"):
        recipe(bert_folder, rows_csv, {"stages": ["cascade", "other"]}, stages)


def test_missing_copy_is_rejected(bert_folder, rows_csv):
    """The stage `whole` has 8 bits already."""
    with pytest.raises(InputError, match="'whole-int8' is not made"):
        make_plan(recipe(bert_folder, rows_csv, {"stages": ["whole-int8", "teacher"]}), "test")


def test_one_stage_without_exits_is_rejected(bert_folder, rows_csv):
    with pytest.raises(InputError, match="'teacher' has no exits"):
        make_plan(recipe(bert_folder, rows_csv, {"stages": ["teacher"]}), "test")


def test_one_stage_with_exits_is_accepted(bert_folder, rows_csv):
    stages = [{"name": "early", "methods": [{"use": "exits", "after": [1]}], "train": {"epochs": 1}}]
    make_plan(recipe(bert_folder, rows_csv, {"stages": ["early"]}, stages), "test")


def test_stage_that_does_not_answer_the_task_is_rejected(encoder_folder, rows_csv):
    stages = [{"name": "bare", "methods": [{"use": "vocabulary"}]}, {"name": "b", "train": {"epochs": 1}}]
    with pytest.raises(InputError, match="'bare' does not answer the task"):
        make_plan(recipe(encoder_folder, rows_csv, {"stages": ["bare", "b"]}, stages), "test")


def test_numbers_have_no_confidence(bert_folder, tmp_path):
    rows = tmp_path / "rows.csv"
    lines = [f"{text},{len(text) / 7}" for text, _ in tiny.sentences(40)]
    rows.write_text("\n".join(["text,label", *lines]))
    with pytest.raises(InputError, match="answers of the type number have no confidence"):
        make_plan(recipe(bert_folder, rows, {"stages": ["whole", "teacher"]}, task="regression"), "test")


def test_saved_recipe_has_the_same_cascade(bert_folder, rows_csv, tmp_path):
    before = recipe(bert_folder, rows_csv, {"stages": ["teacher-int8", "teacher"], "keep": 0.9})
    (tmp_path / "recipe.toml").write_text(to_toml(before))
    assert read(tmp_path / "recipe.toml") == before
    assert read(tmp_path / "recipe.toml", ["cascade.keep=0.8"]).cascade.keep == 0.8
