"""Levels: what is tried, and how a recipe starts from a finished model."""

from dataclasses import replace
from pathlib import Path

import pytest

from niwaki.compression.candidates import (
    SOURCE,
    level_of_recipe,
    named_levels,
    recipe_levels,
    recipe_of,
    stage_of_method,
)
from niwaki.compression.rows import Rows
from niwaki.core.errors import InputError, UsageError
from niwaki.core.recipes import recipe_files
from niwaki.run.validation.stages import stage_problems

ROWS = Rows("classification", {"path": "rows.csv"}, labelled=True, can_train=True)


def test_the_source_takes_the_place_of_the_teacher():
    level = level_of_recipe("own_data", recipe_files()["own_data"], ())
    assert [stage["name"] for stage in level.stages] == ["own_data-student", "own_data-pruned", "own_data-int8"]
    assert [stage["start"] for stage in level.stages] == [SOURCE, "own_data-student", "own_data-pruned"]
    assert [stage.get("teacher") for stage in level.stages] == [[SOURCE], [SOURCE], None]


@pytest.mark.parametrize("name", sorted(recipe_files()))
def test_every_recipe_that_distils_becomes_a_valid_recipe(name):
    level = level_of_recipe(name, recipe_files()[name], ("int8",))
    if level is None:
        assert name in (
            "adapter",
            "few_shot",
            "finetune",
            "long_documents",
            "lottery",
            "lstm_lm",
            "pretrain",
            "sentence_vectors",
            "similarity",
            "small_lm",
            "ulmfit",
            "word_vectors",
        )
        return
    recipe = recipe_of(Path("model"), ROWS, [level])
    assert recipe.stages[0].name == SOURCE and not recipe.baselines and recipe.quantize == ["int8"]
    assert stage_problems(recipe) == []


def test_named_levels_put_training_last():
    found = named_levels(["own_data", "rtn", "int8"], ROWS)
    assert [level.name for level in found] == ["copies", "rtn", "own_data"]
    assert all(level.copies == ("int8",) for level in found)


def test_a_method_that_changes_the_structure_is_trained_with_the_source_as_teacher():
    stage = stage_of_method("heads")
    assert stage["teacher"] == SOURCE and [one["use"] for one in stage["methods"]] == ["heads", "logits"]
    assert "train" not in stage_of_method("gptq") and "train" in stage_of_method("qat")


@pytest.mark.parametrize("methods", [[], "int8", ["int9"], ["own-data"], ["lottery"], [8], ["finetune"], ["fast"]])
def test_other_methods_are_rejected_in_one_line(methods):
    with pytest.raises(UsageError) as error:
        named_levels(methods, ROWS)
    assert "\n" not in str(error.value)


def test_training_without_rows_is_rejected():
    with pytest.raises(InputError, match="give rows or texts as data"):
        named_levels(["own_data"], replace(ROWS, can_train=False))


def test_recipes_are_ordered_by_their_estimated_time(bert_folder, rows_csv):
    rows = replace(ROWS, settings={"path": str(rows_csv), "max_tokens": 24})
    found = recipe_levels(bert_folder, rows)
    seconds = [one for _, one in found]
    assert "own_data" in [level.name for level, _ in found] and seconds == sorted(seconds)
    assert recipe_levels(bert_folder, replace(rows, can_train=False)) == []
