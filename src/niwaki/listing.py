"""Lists the entries of all catalogues without importing them."""

import ast
import re
from functools import cache
from pathlib import Path

from niwaki.core.catalog import Catalog
from niwaki.core.errors import UsageError, did_you_mean

SOURCE = Path(__file__).parent
DECLARATION = re.compile(r"^[A-Z_]+ = (Catalog\(.*?\))$", re.MULTILINE | re.DOTALL)


@cache
def catalogs() -> dict[str, Catalog]:
    """Plural → every catalogue that plug-ins can extend, found by its declaration in the source."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py")))
    found = [_declared(call) for text in texts for call in DECLARATION.findall(text)]
    return {catalog.plural: catalog for catalog in found if catalog.group}


def _declared(call: str) -> Catalog:
    """The catalogue of a call with literal arguments."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return Catalog(*map(ast.literal_eval, node.args), **named)


def rows_of(plural: str) -> list[dict[str, str]]:
    """Rows with name, family and one-line description."""
    if plural in catalogs():
        return [entry.row() for entry in catalogs()[plural].entries()]
    if plural == "recipes":
        return recipes()
    if plural == "models":
        from niwaki.data.embedded import MODELS

        return [
            {"name": name, "family": "embedded", "description": entry.description} for name, entry in MODELS.items()
        ]
    raise UsageError(f"'{plural}' cannot be listed{did_you_mean(plural, [*catalogs(), 'recipes', 'models'])}")


def recipes() -> list[dict[str, str]]:
    """Name, first comment and measured figures of every recipe that can be run by name."""
    from niwaki.core.recipe_figures import measured_figures
    from niwaki.core.recipes import recipe_files

    found, figures = recipe_files(), measured_figures()
    first = {name: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for name, path in found.items()}
    return [
        {
            "name": name,
            "family": "recipes",
            "description": first[name],
            "measured": figures[name][0].short() if name in figures else "",
        }
        for name in sorted(found)
    ]
