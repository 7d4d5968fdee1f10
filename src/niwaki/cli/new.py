"""Writes a new method, task, family, engine, edit or recipe and its test from a template."""

from pathlib import Path

import typer

from niwaki.cli._print import print_result

PANEL = "Extend"


def command(
    kind: str = typer.Argument(help="method, task, family, engine, recipe, ... (singular of what `niwaki list` takes)"),
    name: str = typer.Argument(help="the name of the entry and of its file"),
    family: str = typer.Option("", help="for a method in niwaki's source: the folder it goes into"),
    package: str = typer.Option("", help="write into this installable package, created if it does not exist"),
    into: Path | None = typer.Option(None, help="write into this folder: the package, or both files"),
    json: bool = typer.Option(False, "--json", help="the paths as JSON"),
) -> None:
    """Write a new catalogue entry and its test from a template: into niwaki's source, or into a package of your own."""
    from niwaki.core.errors import UsageError
    from niwaki.scaffold.entry import new
    from niwaki.scaffold.package import new_in_package

    if family and package:
        raise UsageError("new: --family is for niwaki's own source; leave it out with --package")
    written = new_in_package(kind, name, package, into) if package else new(kind, name, family, into)
    print_result([str(path) for path in written], json, "\n".join(str(path) for path in written))
