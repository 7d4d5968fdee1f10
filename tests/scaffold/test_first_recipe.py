"""A first recipe: valid for every goal, and written only if its data and model are found."""

import pytest

import tiny
from niwaki.core.errors import InputError, UsageError
from niwaki.run.recipe import read
from niwaki.scaffold.first_recipe import GOALS, write_recipe


@pytest.mark.parametrize("goal", GOALS)
def test_every_goal_gives_a_valid_recipe(tmp_path, encoder_folder, goal):
    rows, out = tiny.write_csv(tmp_path / "rows.csv"), tmp_path / "recipe.toml"
    found = write_recipe(str(rows), str(encoder_folder), goal, out)
    recipe = read(out)
    assert found["task"] == recipe.task == "classification" and recipe.model == str(encoder_folder)
    assert recipe.data == {"path": str(rows)} and found["recipe"] == GOALS[goal]


@pytest.mark.parametrize(
    ("data", "model", "goal"),
    [("rows.csv", "minilm", "cheap"), ("missing.csv", "minilm", "small"), ("rows.csv", "no-such-model", "small")],
)
def test_what_is_not_found_is_named_and_nothing_is_written(tmp_path, monkeypatch, data, model, goal):
    monkeypatch.chdir(tmp_path)
    tiny.write_csv(tmp_path / "rows.csv")
    with pytest.raises((InputError, UsageError)):
        write_recipe(data, model, goal, tmp_path / "recipe.toml")
    assert not (tmp_path / "recipe.toml").exists()


def test_an_existing_file_is_not_replaced(tmp_path, encoder_folder):
    rows = tiny.write_csv(tmp_path / "rows.csv")
    (tmp_path / "recipe.toml").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write_recipe(str(rows), str(encoder_folder), "small", tmp_path / "recipe.toml")
    assert (tmp_path / "recipe.toml").read_text() == "mine"
