"""Runs a recipe: makes every stage that is not there yet, measures all, writes the report."""

from pathlib import Path

import typer

from niwaki.cli._options import Quiet
from niwaki.cli._print import print_result

PANEL = "Compress"


def command(
    recipe: str = typer.Argument(
        "",
        help="a shipped recipe (niwaki list recipes) or a .toml file; none is the example, or with --data 'own_data'",
        show_default=False,
    ),
    set_: list[str] = typer.Option([], "--set", help="change a setting: stages.student.train.epochs=1"),
    data: str = typer.Option("", help="your own rows: csv, tsv, jsonl, parquet, or a folder of train/validation/test"),
    out: Path | None = typer.Option(None, help="run folder; default runs/<recipe>"),
    quiet: Quiet = False,
    json: bool = typer.Option(False, "--json", help="print report.json"),
) -> None:
    """Run a recipe: make every stage that is not there yet, measure all, write the report.

    Ctrl-C saves and stops; the same command goes on from there.
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    result = api.run(recipe, out=out, overrides=set_, data=data)
    print_result(result.report, json, f"{result!r}\nreport: {result.folder / 'report.html'}")
