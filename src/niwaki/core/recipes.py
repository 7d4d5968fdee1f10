"""Recipes that can be run by name: those that come with niwaki, and those of plug-ins (entry points in `niwaki.recipes`)."""

from pathlib import Path

from niwaki.core.plugins import installed_plugins

SHIPPED_RECIPES = Path(__file__).parents[1] / "recipes"
RECIPE_GROUP = "niwaki.recipes"


def recipe_files() -> dict[str, Path]:
    """Name → file. A plug-in names a package whose folder contains .toml files; it cannot replace a shipped recipe."""
    files: dict[str, Path] = {}
    for plugin in installed_plugins(RECIPE_GROUP):
        path = plugin.path()
        files |= _in_folder(path.parent) if path else {}
    return files | _in_folder(SHIPPED_RECIPES)


def _in_folder(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}
