"""Scores texts with a language model: log-likelihoods of texts, or of each token."""

import typer

from niwaki.cli._answers import Request, answer
from niwaki.cli._options import (
    AnswersAsJson,
    Column,
    Force,
    InputFile,
    LanguageModelEngine,
    OutputFile,
    Quiet,
    SkipBad,
    StageName,
)

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a language model, or of a run"),
    texts: list[str] = typer.Argument(None, help="texts to score; none reads stdin, one text a line"),
    per_token: bool = typer.Option(False, "--per-token", help="also the log-probability of each token"),
    in_: InputFile = None,
    out: OutputFile = None,
    column: Column = None,
    skip_bad: SkipBad = False,
    force: Force = False,
    stage: StageName = "",
    engine: LanguageModelEngine = "auto",
    quiet: Quiet = False,
    json: AnswersAsJson = False,
) -> None:
    """Score texts with a language model: log-likelihoods of texts, or of each token.

    The natural logarithm, summed over the tokens that are not special. Masked models give pseudo-log-likelihoods: each token is
    predicted from all others.
    """
    from niwaki import api
    from niwaki.core import log
    from niwaki.engines.predictor import Predictor

    def open_model() -> Predictor:
        predictor = api.load_language_model(model, engine, stage=stage)
        return predictor.scoring_tokens() if per_token else predictor

    log.quiet(quiet)
    answer(Request("score", texts, in_, out, column or [], skip_bad, force, json), open_model)
