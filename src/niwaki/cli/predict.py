"""Answers texts: given as words, from a file of any size, or from stdin, one a line."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from niwaki.cli._answers import Request, answer
from niwaki.cli._options import AnswersAsJson, Column, Engine, Force, InputFile, OutputFile, Quiet, SkipBad, StageName

if TYPE_CHECKING:
    from niwaki.engines.predictor import Predictor

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
    heads: str = typer.Option("", help="several heads at once, on one encoder: names with commas, or 'all'"),
    cache: Path = typer.Option(None, help="with --heads: folder in which encoder outputs are kept for later calls"),
    engine: Engine = "auto",
    on: str = typer.Option("", help="'ray' computes on a Ray cluster: the one that RAY_ADDRESS names, or this machine"),
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
    request = Request("predict", texts, in_, out, column or [], skip_bad, force, json, on)
    check_heads(head, heads, cache, engine)

    def open_model() -> "Predictor":
        if not heads:
            return api.load(model, engine, stage=stage, head=head)
        return api.load_heads(model, heads, cache=api.EncoderCache(folder=cache), stage=stage)

    answer(request, open_model)


def check_heads(head: str, heads: str, cache: Path | None, engine: str) -> None:
    from niwaki.core.errors import UsageError

    if head and heads:
        raise UsageError("predict: give --head for one head, or --heads for several")
    if cache and not heads:
        raise UsageError("predict: --cache keeps encoder outputs for --heads; give --heads all, or leave it out")
    if heads and engine not in ("auto", "torch"):
        raise UsageError(f"predict: --heads computes in torch, not in {engine}; leave --engine out")
