"""Answers texts: given as words, from a file of any size, or from stdin, one a line."""

import typer

from niwaki.cli._answers import Request, answer
from niwaki.cli._options import AnswersAsJson, Column, Engine, Force, InputFile, OutputFile, Quiet, SkipBad, StageName

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a model or a cascade, or of a run (then the stage it says to deploy)"),
    texts: list[str] = typer.Argument(None, help="texts to answer; none reads stdin, one text a line"),
    in_: InputFile = None,
    out: OutputFile = None,
    column: Column = None,
    skip_bad: SkipBad = False,
    force: Force = False,
    stage: StageName = "",
    head: str = typer.Option("", help="a further head of the model, by name (`niwaki show` lists them)"),
    engine: Engine = "auto",
    quiet: Quiet = False,
    json: AnswersAsJson = False,
) -> None:
    """Answer texts: given as words, from a file of any size, or from stdin, one a line.

    What an answer is depends on the model: a label, labels, a number, tags, a stretch of text, a choice, roles. Where it reads two
    texts (a pair, a question and its text, a beginning and its endings) a tab stands between them, or they are two columns.
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    request = Request("predict", texts, in_, out, column or [], skip_bad, force, json)
    answer(request, lambda: api.load(model, engine, stage=stage, head=head))
