"""Runs a recipe: makes every stage that is not there yet, measures all, writes the report."""

from pathlib import Path

import typer

from niwaki.cli._options import Quiet
from niwaki.cli._print import print_result
from niwaki.core.errors import UsageError

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
    seeds: str = typer.Option("", help="make every stage with each of these seeds: 0-4 or 0,7,9"),
    stages_only: bool = typer.Option(
        False, "--stages-only", help="stop after the last stage: for helpers that share the work of a run"
    ),
    quiet: Quiet = False,
    json: bool = typer.Option(False, "--json", help="print report.json"),
) -> None:
    """Run a recipe: make every stage that is not there yet, measure all, write the report.

    Ctrl-C saves and stops; the same command goes on from there.
    """
    from niwaki import api
    from niwaki.core import log
    from niwaki.run.launcher import is_first

    log.quiet(quiet)
    overrides = [*set_, f"seeds={parse_seeds(seeds)}"] if seeds else set_
    result = api.run(recipe, out=out, overrides=overrides, data=data, stages_only=stages_only)
    if not is_first():
        return
    if stages_only:
        print_result(
            {"folder": str(result.folder)}, json, "all stages are made; `niwaki run` without --stages-only reports"
        )
        return
    print_result(result.report, json, f"{result!r}\nreport: {result.folder / 'report.html'}")


def parse_seeds(text: str) -> list[int]:
    """The seeds that a text such as 0-4 or 0,7,9 names."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or int(last or first) - int(first) not in range(1000):
            raise UsageError(
                f"--seeds {text}: '{part.strip()}' is no seed and no range of at most 1000; write 0-4 or 0,7,9"
            )
        found += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(found))
