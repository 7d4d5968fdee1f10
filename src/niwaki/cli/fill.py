"""Fills masks: the likeliest words for ___ in a text, from a masked language model."""

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
    model: str = typer.Argument(help="folder of a masked language model, or of a run"),
    texts: list[str] = typer.Argument(None, help="texts with ___, [MASK] or <mask>; none reads stdin, one text a line"),
    top: int = typer.Option(5, help="candidates for each mask"),
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
    """Fill masks: the likeliest tokens for ___ in a text, from a masked language model.

    niwaki fill MODEL "the film was ___" --top 5

    Several masks of a text are predicted at once, each without the others. Published checkpoints with a masked-LM head run in torch.
    """
    from niwaki import api
    from niwaki.core import log
    from niwaki.engines.predictor import Predictor

    def open_model() -> Predictor:
        return api.load_language_model(model, engine, stage=stage).filling(top)

    log.quiet(quiet)
    answer(Request("fill", texts, in_, out, column or [], skip_bad, force, json), open_model)
