"""Looks at this machine: what it has, what will be used and why, whether the packages are those that were tested."""

from pathlib import Path

import typer

from niwaki.cli._print import print_result, table


def command(
    out: Path = typer.Option(Path("runs"), help="where runs will lie: its disk is looked at"),
    json: bool = typer.Option(False, "--json", help="as JSON"),
) -> None:
    """Look at this machine: what it has, what will be used and why, whether the packages are those that were tested.

    Ends with 1 where something must be mended before a run.
    """
    from niwaki.doctor import examine

    told = examine(out)
    rows = [{**finding, "remark": finding["fault"] or finding["why"]} for finding in told["findings"]]
    verdict = "fine" if told["fine"] else "\n".join(f"to be mended: {fault}" for fault in told["faults"])
    print_result(told, json, f"{table(rows, ['name', 'found', 'use', 'remark'])}\n{verdict}")
    if not told["fine"]:
        raise typer.Exit(1)
