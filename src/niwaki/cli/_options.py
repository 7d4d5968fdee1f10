"""Options that several commands share, with one description each."""

from pathlib import Path
from typing import Annotated

import typer

InputFile = Annotated[
    Path | None,
    typer.Option(
        "--in", help="file of texts: jsonl, csv or tsv, compressed (.gz) or not; any other holds one text a line"
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option(help="write answers as JSON lines to this file; if killed, the same command continues it")
]
Column = Annotated[
    list[str] | None, typer.Option(help="column of the texts, twice for pairs; by default found by its name")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="answer a line that cannot be read with an error")]
Force = Annotated[bool, typer.Option("--force", help="overwrite --out")]
StageName = Annotated[
    str, typer.Option(help="of a run: take the model of this stage instead of the one that the report recommends")
]
LanguageModelEngine = Annotated[str, typer.Option(help="onnx or torch; auto takes the fastest on this machine")]
Engine = Annotated[str, typer.Option(help="onnx, native or torch; auto takes the fastest on this machine")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress")]
AsJson = Annotated[bool, typer.Option("--json", help="as JSON")]
AnswersAsJson = Annotated[bool, typer.Option("--json", help="as JSON; with --out, a summary")]
