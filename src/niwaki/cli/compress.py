"""Makes a finished model smaller and faster, and keeps its quality."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson, Quiet
from niwaki.cli._print import print_result, table

PANEL = "Compress"


def command(
    model: str = typer.Argument(help="folder of a model or of a run, an embedded model, or a Hugging Face id"),
    data: str = typer.Option("", help="rows with labels, or texts without: csv, tsv, jsonl, parquet, txt, a folder"),
    keep: float = typer.Option(0.97, help="share of the source's score that must be kept on validation rows"),
    budget: list[str] = typer.Option(
        [], help="limit: 10MB (size), 5ms (latency of one text), 10min (time to compress)"
    ),
    method: list[str] = typer.Option([], help="try only this: int8, 4bit, a method or a recipe (niwaki list)"),
    prefer: str = typer.Option("size", help="which good candidate to take: size (smallest) or speed (fastest)"),
    out: Path = typer.Option(Path("compressed"), help="folder to write"),
    task: str = typer.Option("", help="task of the rows (niwaki list tasks); none reads it off their columns"),
    set_: list[str] = typer.Option([], "--set", help="change a setting of the data: data.text=review"),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Make a finished model smaller and faster: try candidates from cheap to expensive, save the smallest that is good enough.

    Without labels, good enough means the same answers as the source; without --data, on sample texts. If no candidate is good enough
    or within the budget, the exit code is 4 and nothing is written. After Ctrl-C the same command resumes.
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    result = api.compress(
        model,
        data or None,
        keep=keep,
        budget=budget or None,
        methods=method or None,
        prefer=prefer,  # type: ignore[arg-type]  # compress checks it
        out=out,
        task=task,
        overrides=set_,
    )
    columns, rows = result.table()
    lines = table([dict(zip(columns, row, strict=True)) for row in rows], columns)
    print_result(result.to_json(), json, f"{lines}\n{result!r}")
