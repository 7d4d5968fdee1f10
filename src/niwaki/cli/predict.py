"""Labels texts: given as words, from a file, or from stdin, one a line."""

import sys
from pathlib import Path

import typer

from niwaki.cli._print import give


def command(
    model: str = typer.Argument(help="folder of a model, or of a run (then the stage it says to deploy)"),
    texts: list[str] = typer.Argument(None, help="texts to label; none reads stdin, one text a line"),
    in_: Path | None = typer.Option(None, "--in", help="file with one text a line"),
    engine: str = typer.Option("auto", help="onnx or torch"),
    json: bool = typer.Option(False, "--json", help="label and probabilities of each as JSON"),
) -> None:
    """Label texts: given as words, from a file, or from stdin, one a line."""
    from dataclasses import asdict

    from niwaki import api
    from niwaki.core.errors import Refused

    if in_ is not None and not in_.is_file():
        raise Refused(f"{in_}: is not there")
    try:
        rows = texts or (in_.read_text(encoding="utf-8") if in_ else sys.stdin.read()).splitlines()
    except UnicodeDecodeError as error:
        raise Refused(
            f"{in_ or 'stdin'}: is not UTF-8 ({error.reason} at byte {error.start}); convert it first"
        ) from None
    if not rows:
        raise Refused("predict: no text was given; pass texts, --in FILE, or lines on stdin")
    answers = api.load(model, engine).predict(rows)
    give([{"text": row, **asdict(answer)} for row, answer in zip(rows, answers, strict=True)], json,
         "\n".join(f"{answer.label}\t{answer.probability:.4f}\t{row}" for row, answer in zip(rows, answers, strict=True)))  # fmt: skip
