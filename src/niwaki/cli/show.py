"""Shows one thing: the settings of a method, task or recipe, the shape of a model, the stages of a run."""

import typer

from niwaki.cli._print import give


def command(
    what: str = typer.Argument(help="a method, task or recipe by name, a model's folder, or a run's folder"),
    json: bool = typer.Option(False, "--json", help="as JSON"),
) -> None:
    """Show one thing: the settings of a method, task or recipe, the shape of a model, the stages of a run."""
    from niwaki.showing import show

    value, text = show(what)
    give(value, json, text)
