"""The recipe for a finished model, and settings that are given on top of a recipe's own."""

from pathlib import Path

import pytest

from niwaki.compression.rows import Rows
from niwaki.core.errors import InputError
from niwaki.search.recipes import recipe_for_model, with_settings
from search import spaces


def test_a_model_is_the_source_and_the_teacher(bert_folder):
    rows = Rows("rotten_tomatoes", {}, labelled=True, can_train=True)
    found = recipe_for_model(bert_folder, rows, {"seed": 3})
    assert (found.model, found.seed, [stage.name for stage in found.stages]) == (
        str(bert_folder),
        3,
        ["source", "student"],
    )
    assert found.stages[1].teachers == ["source"] and not found.stages[0].train


def test_rows_to_train_on_are_needed():
    with pytest.raises(InputError, match="there are no rows to train on"):
        recipe_for_model(Path("model"), Rows("classification", {}, labelled=False, can_train=False), {})


def test_given_settings_go_before_those_of_the_recipe():
    found = with_settings(spaces.recipe(max_mb=10, keep=0.9), {"keep": 0.95, "minutes": None, "trials": 3}).search
    assert (found.max_mb, found.keep, found.minutes, found.trials) == (10, 0.95, None, 3)
    with pytest.raises(InputError, match=r"search.max_gb: unknown key"):
        with_settings(spaces.recipe(), {"max_gb": 1})
