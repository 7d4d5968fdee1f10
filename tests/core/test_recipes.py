"""Recipes that can be run by name."""

from niwaki.core import recipes


def test_plugin_adds_recipes_but_cannot_replace_shipped_ones(tmp_path, monkeypatch):
    for name in ("rotten_tomatoes", "mine"):
        (tmp_path / f"{name}.toml").write_text("")
    (tmp_path / "__init__.py").write_text("")

    class Plugin:
        def path(self):
            return tmp_path / "__init__.py"

    monkeypatch.setattr(recipes, "installed_plugins", lambda group: [Plugin()])
    found = recipes.recipe_files()
    assert found["mine"] == tmp_path / "mine.toml"
    assert found["rotten_tomatoes"] == recipes.SHIPPED_RECIPES / "rotten_tomatoes.toml"
