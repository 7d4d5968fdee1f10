"""Writes the report of a run again: report.html, report.md and report.json."""

from pathlib import Path

import typer

from niwaki.cli._print import give


def command(
    run: Path = typer.Argument(help="folder of a run"),
    json: bool = typer.Option(False, "--json", help="print report.json"),
) -> None:
    """Write the report of a run again: report.html, report.md and report.json."""
    from niwaki import report
    from niwaki.core.errors import Refused

    if not (run / "plan.json").is_file():
        raise Refused(f"{run}: is not a run, it has no plan.json")
    written = report.write(run)
    give(written, json, f"{written['verdict']['sentence']}\nreport: {run / 'report.html'}")
