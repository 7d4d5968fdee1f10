"""Asks language models to choose words for masks, in generated sentences."""

import typer

from niwaki.cli._options import AsJson, Quiet
from niwaki.cli._print import print_result

PANEL = "Inspect"


def command(
    models: list[str] = typer.Argument(help="folders of language models or runs, or Hugging Face ids"),
    tasks: str = typer.Option("", help="names with commas; all by default (`niwaki list cloze`)"),
    items: int = typer.Option(500, help="sentences of each task, at most"),
    seed: int = typer.Option(0, help="which sentences are drawn"),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Let language models choose words for masks in generated sentences, without training: ages, sizes, negation, what always or never holds.

    niwaki cloze TEACHER STUDENT --tasks age_comparison,negation
    """
    from niwaki import api
    from niwaki.core import log
    from niwaki.evaluate.cloze_scores import table

    log.quiet(quiet)
    names = [name.strip() for name in tasks.split(",") if name.strip()]
    found = api.cloze(models, tasks=names, items=items, seed=seed)
    print_result(found, json, table(found))
