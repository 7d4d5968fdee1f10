"""What there is, found without importing any of it."""

from niwaki.core.catalog import Catalog
from niwaki.core.errors import UsageError, did_you_mean

CATALOGS = {
    "methods": Catalog("niwaki.methods", "method"),
    "tasks": Catalog("niwaki.tasks", "task"),
    "engines": Catalog("niwaki.engines.runtimes", "engine"),
    "families": Catalog("niwaki.models.families", "model family"),
    "edits": Catalog("niwaki.models.edits", "edit"),
}


def rows_of(kind: str) -> list[dict[str, str]]:
    """Rows with name, family and one-line description."""
    if kind in CATALOGS:
        return [entry.row() for entry in CATALOGS[kind].entries()]
    if kind == "recipes":
        return recipes()
    if kind == "models":
        from niwaki.data.embedded import MODELS

        return [
            {"name": name, "family": "embedded", "description": entry.description} for name, entry in MODELS.items()
        ]
    raise UsageError(f"'{kind}' cannot be listed{did_you_mean(kind, [*CATALOGS, 'recipes', 'models'])}")


def recipes() -> list[dict[str, str]]:
    """Name and first comment of every recipe that can be run by name."""
    from niwaki.core.recipes import recipe_files

    found = recipe_files()
    first = {name: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for name, path in found.items()}
    return [{"name": name, "family": "recipes", "description": first[name]} for name in sorted(found)]
