"""Answers texts: given as words, from a file, or from stdin, one a line."""

import sys
from pathlib import Path

import typer

from niwaki.cli._print import give


def command(
    model: str = typer.Argument(help="folder of a model, or of a run (then the stage it says to deploy)"),
    texts: list[str] = typer.Argument(None, help="texts to answer; none reads stdin, one text a line"),
    in_: Path | None = typer.Option(None, "--in", help="file with one text a line (pairs: two columns, a tab between)"),
    engine: str = typer.Option("auto", help="onnx, native or torch; auto is the fastest on this machine"),
    json: bool = typer.Option(False, "--json", help="answer and probabilities of each as JSON"),
) -> None:
    """Answer texts: given as words, from a file, or from stdin, one a line.

    What an answer is depends on the model: a label, labels, a number, tags, a stretch of text, a choice. Where it reads two
    texts (a pair, a question and its text, a beginning and its endings) a tab stands between them.
    """
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
    predictor = api.load(model, engine)
    answers = predictor.predict([predictor.kind.from_line(row) for row in rows])
    told = list(zip(rows, answers, strict=True))
    give(
        [{"text": row, **asdict(answer)} for row, answer in told],
        json,
        "\n".join(f"{answer.line()}\t{row}" for row, answer in told),
    )
