"""Answers texts: given as words, from a file of any size, or from stdin, one a line."""

from pathlib import Path

import typer

from niwaki.cli._answers import Request, answer

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a model or a cascade, or of a run (then the stage it says to deploy)"),
    texts: list[str] = typer.Argument(None, help="texts to answer; none reads stdin, one text a line"),
    in_: Path | None = typer.Option(
        None, "--in", help="file: jsonl, csv or tsv, packed (.gz) or not; any other holds one text a line"
    ),
    out: Path | None = typer.Option(
        None, help="answers as JSON lines into this file; killed, the same command goes on where it was"
    ),
    column: list[str] = typer.Option([], help="column of the texts, twice for a pair; none tells it by its name"),
    skip_bad: bool = typer.Option(False, "--skip-bad", help="a line that cannot be read gives an error in its place"),
    force: bool = typer.Option(False, "--force", help="write --out anew, whatever is there"),
    stage: str = typer.Option("", help="of a run: this stage's model, and not the one that its report recommends"),
    head: str = typer.Option("", help="a further head of the model, by name (`niwaki show` lists them)"),
    engine: str = typer.Option("auto", help="onnx, native or torch; auto is the fastest on this machine"),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="no progress"),
    json: bool = typer.Option(
        False, "--json", help="answer and probabilities of each as JSON; with --out, what was done"
    ),
) -> None:
    """Answer texts: given as words, from a file of any size, or from stdin, one a line.

    What an answer is depends on the model: a label, labels, a number, tags, a stretch of text, a choice, roles. Where it reads two
    texts (a pair, a question and its text, a beginning and its endings) a tab stands between them, or they are two columns.
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    request = Request("predict", texts, in_, out, column, skip_bad, force, json)
    answer(request, lambda: api.load(model, engine, stage=stage, head=head))
