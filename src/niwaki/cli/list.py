"""Lists methods, tasks, models, recipes, engines, families, edits and the other catalogues."""

import typer

from niwaki.cli._print import print_result, table

PANEL = "Inspect"


def command(
    kind: str = typer.Argument("methods", help="methods, tasks, models, recipes, engines, families or edits"),
    json: bool = typer.Option(False, "--json", help="rows as JSON"),
) -> None:
    """List methods, tasks, models, recipes, engines, families, edits or the entries of another catalogue."""
    from niwaki.listing import rows_of

    rows = rows_of(kind)
    columns = ["name", "measured", "description"] if kind == "recipes" else ["name", "family", "description"]
    print_result(rows, json, table(rows, columns))
