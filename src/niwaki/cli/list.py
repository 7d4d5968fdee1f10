"""Lists what there is: methods, tasks, models, recipes, engines, families."""

import typer

from niwaki.cli._print import give, table


def command(
    kind: str = typer.Argument("methods", help="methods, tasks, models, recipes, engines or families"),
    json: bool = typer.Option(False, "--json", help="rows as JSON"),
) -> None:
    """List what there is: methods, tasks, models, recipes, engines or families."""
    from niwaki.listing import rows_of

    rows = rows_of(kind)
    give(rows, json, table(rows, ["name", "family", "description"]))
