"""`niwaki list`: every catalogue with names and descriptions."""

import json

import pytest


def test_recipes_are_shown_with_their_measured_figures(niwaki):
    assert "kept, 28× smaller" in niwaki("list", "recipes").out
    assert "# measured: Rotten Tomatoes, gptq:" in niwaki("show", "narrow").out


@pytest.mark.parametrize(
    "kind", ["methods", "tasks", "objectives", "models", "recipes", "engines", "families", "edits"]
)
def test_every_kind_is_listed_with_descriptions(niwaki, kind):
    rows = json.loads(niwaki("list", kind, "--json").out)
    keys = {"name", "family", "description"} | ({"measured"} if kind == "recipes" else set())
    assert rows and all(set(row) == keys and row["description"] for row in rows)
    text = niwaki("list", kind).out
    assert all(row["name"] in text for row in rows)
