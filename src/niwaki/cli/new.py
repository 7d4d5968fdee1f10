"""Writes a plug-in and its test from a template: method, task, family, engine, edit or recipe."""

from pathlib import Path

import typer

from niwaki.cli._print import print_result


def command(
    kind: str = typer.Argument(help="method, task, family, engine, edit or recipe"),
    name: str = typer.Argument(help="what it shall be called; the file gets this name"),
    family: str = typer.Option("", help="of a method: the folder it goes into"),
    into: Path | None = typer.Option(None, help="write both files into this folder, outside a checkout of niwaki"),
    json: bool = typer.Option(False, "--json", help="the paths as JSON"),
) -> None:
    """Write a plug-in and its test from a template: method, task, family, engine, edit or recipe."""
    from niwaki import scaffold

    written = scaffold.new(kind, name, family, into)
    print_result([str(path) for path in written], json, "\n".join(str(path) for path in written))
