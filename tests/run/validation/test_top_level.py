"""Task, meter and word vectors of a recipe."""

import pytest

from niwaki.run.recipe_settings import MeterSettings, Recipe, Stage
from niwaki.run.validation.top_level import data_problems, meter_problems, vector_problems


def recipe(**values):
    return Recipe(**{"stages": [Stage(name="a")], **values})


def test_a_sound_recipe_has_no_problems(tmp_path):
    (tmp_path / "glove.txt").write_text("film 1 2\n")
    found = recipe(task="classification", data={"path": "x"}, vectors=str(tmp_path / "glove.txt"))
    assert data_problems(found) == meter_problems(found) == vector_problems(found) == []
    assert vector_problems(recipe()) == []


def test_rows_are_not_read():
    assert data_problems(recipe(task="classification", data={"path": "is/not/there.csv"})) == []


def test_an_unknown_task_is_named_with_its_key():
    (problem,) = data_problems(recipe(task="clasification"))
    assert problem.startswith("task: ") and "did you mean 'classification'" in problem


def test_all_wrong_settings_of_the_data_are_named():
    found = data_problems(recipe(task="classification", data={"validation": 2, "tset": 1}))
    assert len(found) == 2 and all(problem.startswith("data.") for problem in found)


@pytest.mark.parametrize(
    ("settings", "key"), [({"place": "atlantis"}, "place"), ({"price": "a lot"}, "price"), ({"place": -5.0}, "place")]
)
def test_unknown_places_and_prices_are_named(settings, key):
    (problem,) = meter_problems(recipe(meter=MeterSettings(**settings)))
    assert problem.startswith("meter.") and key in problem


def test_missing_vectors_are_named():
    assert vector_problems(recipe(vectors="no/glove.txt")) == ["vectors: no/glove.txt: is not there"]
