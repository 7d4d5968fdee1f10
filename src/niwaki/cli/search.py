"""Searches for the best model within limits on size, latency, energy and score."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from niwaki.cli._options import AsJson, Quiet
from niwaki.cli._print import print_result, table
from niwaki.core.errors import GateMissed

if TYPE_CHECKING:
    from niwaki.search.result import Searched

PANEL = "Compress"
SOURCE = "a recipe, whose stages after the first are varied; or a model: a folder, a run, a Hugging Face id"
DATA = "rows with labels, or texts without: csv, tsv, jsonl, parquet, txt, a folder"
KEEP = "share of the source's score to keep; default 0.97, none for the objective score"
SET = "change a setting: data.text=review; of a recipe also search.engines=['onnx'], stages.student.train.lr=1e-4"
Number = float | None
MaxMb = Annotated[Number, typer.Option(help="size limit on disk, in MB")]
MaxP99 = Annotated[Number, typer.Option("--max-p99-ms", help="limit on the 99th percentile of the latency of a text")]
MaxJoules = Annotated[Number, typer.Option("--max-joules-per-1000", help="limit on the energy of 1,000 texts")]
MinThroughput = Annotated[Number, typer.Option(help="least number of texts per second")]
Minutes = Annotated[Number, typer.Option(help="time limit, over all starts of the same search")]
PerDay = Annotated[Number, typer.Option(help="texts a day, to say in how many days the search pays back")]
Objective = Annotated[str | None, typer.Option(help="what is best: bytes, latency, joules or score")]
Trials = Annotated[int | None, typer.Option(help="most points that are tried; default 40")]
Task = Annotated[str, typer.Option(help="task of the rows (niwaki list tasks); none reads it off their columns")]


def command(
    source: str = typer.Argument(help=SOURCE),
    data: str = typer.Option("", help=DATA),
    max_mb: MaxMb = None,
    max_p99: MaxP99 = None,
    max_joules: MaxJoules = None,
    min_throughput: MinThroughput = None,
    keep: float | None = typer.Option(None, help=KEEP),
    objective: Objective = None,
    minutes: Minutes = None,
    trials: Trials = None,
    out: Path = typer.Option(Path("searched"), help="folder to write"),
    task: Task = "",
    per_day: PerDay = None,
    set_: list[str] = typer.Option([], "--set", help=SET),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Search for the best model within limits: train students of other shapes, measure each in all number formats and engines.

    If no model is within all limits, the nearest one is saved, a line says what it misses, and the exit code is 4. Ctrl-C, and the end
    of --minutes, save the best model so far; the same command goes on from there. Further settings are in a recipe's [search] table.
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    settings = {"max_mb": max_mb, "max_p99_ms": max_p99, "max_joules_per_1000": max_joules, "keep": keep}
    settings |= {"min_throughput": min_throughput, "minutes": minutes}
    more = {"objective": objective, "trials": trials, **settings}
    found = api.search(source, data or None, out=out, task=task, overrides=set_, per_day=per_day, **more)
    print_found(found, json)


def print_found(found: "Searched", as_json: bool) -> None:
    """Prints the trials, then ends with the exit code of an interruption or a missed limit."""
    columns, rows = found.table()
    lines = table([dict(zip(columns, row, strict=True)) for row in rows], columns)
    print_result(found.to_json(), as_json, f"{lines}\n{found!r}\npage: {found.page}")
    if found.content["interrupted"]:
        raise KeyboardInterrupt
    if found.missed:
        raise GateMissed("\n".join(f"search: {line}" for line in found.missed))
