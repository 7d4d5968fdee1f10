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
    """Name and first remark of every recipe that comes with niwaki."""
    from niwaki.core.files import SHIPPED_RECIPES

    found = sorted(SHIPPED_RECIPES.glob("*.toml"))
    first = {path: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for path in found}
    return [{"name": path.stem, "family": "recipes", "description": first[path]} for path in found]
