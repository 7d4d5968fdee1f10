"""Settings of recipes and what they build."""

import pytest

from niwaki.core.errors import InputError
from niwaki.core.settings import check
from niwaki.methods.distill.logits import Logits
from niwaki.run.recipe_settings import MeterSettings, Recipe, Stage
from niwaki.tasks.classification import Classification


@pytest.mark.parametrize(
    ("teacher", "names"), [("", []), ("big", ["big"]), (["a", "b"], ["a", "b"]), (["", "a"], ["a"])]
)
def test_teachers_are_a_list(teacher, names):
    assert Stage(name="small", teacher=teacher).teachers == names


def test_variants_take_methods_and_training_of_alternatives():
    values = {
        "name": "small",
        "start": "big",
        "methods": [{"use": "int8"}],
        "train": {"epochs": 1},
        "alternatives": [{"methods": [{"use": "logits"}], "train": {"epochs": 2}}, {}],
    }
    first, second = check(Stage, values, "stages.0").variants()
    assert (first.name, first.start, first.methods, first.train.epochs) == ("small", "big", [{"use": "logits"}], 2)
    assert second.methods == [] and second.train is None and not first.alternatives


def test_the_task_and_the_methods_of_a_recipe_are_built():
    stage = Stage(name="a", methods=[{"use": "logits", "temperature": 3.0}])
    recipe = Recipe(task="classification", data={"path": "rows.csv"}, stages=[stage])
    assert isinstance(recipe.make_task(), Classification) and recipe.make_task().path == "rows.csv"
    (method,) = recipe.make_methods(stage)
    assert isinstance(method, Logits) and method.temperature == 3.0


def test_unknown_settings_of_the_data_are_named():
    with pytest.raises(InputError, match=r"^data\.pth: .*did you mean 'path'"):
        Recipe(task="classification", data={"pth": "x"}, stages=[Stage(name="a")]).make_task()


def test_a_window_knows_the_place_and_the_price():
    window = MeterSettings(place=500.0, pue=1.5, price=0.04).window()
    with window:
        sum(range(100_000))
    detail = window.reading.detail
    assert detail["grid"]["grams_per_kwh"] == 500 and window.reading.usd is not None
    bare = MeterSettings().window()
    with bare:
        pass
    assert bare.reading.usd is None and bare.reading.co2e_grams is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"stages": []}, "stages"),
        ({"stages": [{"name": "a"}], "seed": -1}, "seed"),
        ({"stages": [{"name": "a"}], "quantize": ["int7"]}, "quantize"),
        ({"stages": [{"name": "a", "folds": 1}]}, r"stages\.0\.folds"),
        ({"stages": [{"name": "a"}], "cascade": {"stages": []}}, r"cascade\.stages"),
        ({"stages": [{"name": "a"}], "cascade": {"stages": ["a"], "keep": 0}}, r"cascade\.keep"),
    ],
)
def test_impossible_values_are_rejected_with_their_key(values, message):
    with pytest.raises(InputError, match=message):
        check(Recipe, values, "")
