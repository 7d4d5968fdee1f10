"""Writes the report of a run again: report.html, report.md and report.json."""

from pathlib import Path

import typer

from niwaki.cli._print import print_result

PANEL = "Inspect"


def command(
    run: Path = typer.Argument(help="folder of a run"),
    per_day: float | None = typer.Option(
        None, "--per-day", help="texts a day, for days to pay back and savings a year"
    ),
    json: bool = typer.Option(False, "--json", help="print report.json"),
) -> None:
    """Write the report of a run again: report.html, report.md and report.json."""
    from niwaki import report

    written = report.write(run, per_day)
    repaid = (written["payback"] or {}).get("words", "nothing was compressed")
    print_result(written, json, f"{written['verdict']['sentence']}\npayback: {repaid}\nreport: {run / 'report.html'}")
