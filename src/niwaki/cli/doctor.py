"""Looks at this machine: what it has, what will be used and why, whether the packages are those that were tested."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result, table

PANEL = "Inspect"


def command(
    out: Path = typer.Option(Path("runs"), help="where runs will lie: its disk is looked at"),
    json: AsJson = False,
) -> None:
    """Examine this machine: its hardware, what niwaki uses of it and why, and whether the package versions are tested ones.

    The exit code is 1 if something must be fixed before a run.
    """
    from niwaki.doctor import examine

    result = examine(out)
    rows = [{**finding, "remark": finding["fault"] or finding["why"]} for finding in result["findings"]]
    verdict = "fine" if result["fine"] else "\n".join(f"to fix: {fault}" for fault in result["faults"])
    print_result(result, json, f"{table(rows, ['name', 'found', 'use', 'remark'])}\n{verdict}")
    if not result["fine"]:
        raise typer.Exit(1)
