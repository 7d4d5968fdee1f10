"""From the parameters of an estimator to a recipe: rows, overrides, epochs and seeds."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.estimators._training import FitSettings, chosen_recipe, overrides_of, parts_of, seed_of, with_epochs
from niwaki.run.recipe import parse

SETTINGS = FitSettings("classification", "minilm", "auto", None, 64, [], 0)


def table(rows: int, **more: list[str]) -> pa.Table:
    return pa.table({"text": [f"text {row}" for row in range(rows)], "label": ["a", "b"] * (rows // 2), **more})


def test_a_tenth_of_the_rows_is_held_out_by_class():
    parts = parts_of(table(400), stratify=True)
    assert parts["train"].num_rows + parts["validation"].num_rows == 400
    assert parts["validation"].num_rows == pytest.approx(40, abs=4) and parts["test"] is parts["validation"]
    counts = parts["validation"].column("label").value_counts().to_pylist()
    assert max(one["counts"] for one in counts) - min(one["counts"] for one in counts) <= 2


def test_few_rows_train_and_validate():
    rows = table(38)
    assert all(part is rows for part in parts_of(rows, stratify=True).values())


def test_a_class_that_would_not_be_validated_keeps_all_rows():
    rows = table(60)
    labels = ["rare", *rows.column("label").to_pylist()[1:]]
    rows = rows.set_column(1, "label", pa.array(labels))
    assert parts_of(rows, stratify=True)["validation"] is rows
    assert parts_of(rows, stratify=False)["validation"] is not rows


@pytest.mark.parametrize(("each", "recipe"), [(8, "few_shot"), (128, "few_shot"), (129, "own_data")])
def test_few_rows_per_class_take_the_few_shot_recipe(each, recipe):
    rows = table(2 * each)
    assert chosen_recipe(SETTINGS, rows) == recipe
    assert chosen_recipe(replace(SETTINGS, method="finetune"), rows) == "finetune"
    assert chosen_recipe(replace(SETTINGS, task="regression"), rows) == "own_data"


def test_overrides_name_columns_and_end_with_those_of_the_user():
    settings = replace(SETTINGS, model='my "model"', overrides=["data.validation=0.2"], seed=7)
    found = overrides_of(settings, table(4, second=["x"] * 4), "own_data")
    assert found == [
        "task=classification",
        'model="my \\"model\\""',
        "seed=7",
        "quantize=[]",
        "cache.stages=false",
        "data.label=label",
        "data.text=text",
        "data.second=second",
        "data.max_tokens=64",
        "data.validation=0.2",
    ]
    assert 'quantize=["int8"]' in overrides_of(settings, table(4), "few_shot")


@pytest.fixture
def recipe():
    stages = [{"name": "tuned", "train": {"epochs": 3}}, {"name": "int8", "methods": [{"use": "int8"}]}]
    return parse({"task": "classification", "stages": stages})


def test_epochs_replace_those_of_every_training_stage(recipe):
    found = with_epochs(recipe, 0.5)
    assert found.stages[0].train.epochs == 0.5 and found.stages[1].train is None
    assert recipe.stages[0].train.epochs == 3 and with_epochs(recipe, None) is recipe


@pytest.mark.parametrize("epochs", [0, -1, 10_001, float("nan")])
def test_impossible_epochs_are_rejected(recipe, epochs):
    with pytest.raises(InputError, match=r"^epochs: must be above 0 and at most 10000"):
        with_epochs(recipe, epochs)


def test_random_states_become_seeds():
    assert seed_of(None) == 0 and seed_of(5) == 5 and seed_of(np.int64(5)) == 5
    assert seed_of(2**31 + 3) == 3
    assert seed_of(np.random.RandomState(1)) == seed_of(np.random.RandomState(1))
    assert seed_of(np.random.RandomState(1)) != seed_of(np.random.RandomState(2))


@pytest.mark.parametrize("state", [-1, "x", 1.5])
def test_impossible_random_states_are_rejected(state):
    with pytest.raises(InputError, match=r"^random_state: must be None, an int of at least 0 or a RandomState"):
        seed_of(state)
