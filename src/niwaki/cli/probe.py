"""Asks what linear classifiers read from the layers of models."""

import typer

from niwaki.cli._options import AsJson, Quiet
from niwaki.cli._print import print_result

PANEL = "Inspect"


def command(
    models: list[str] = typer.Argument(
        help="folders of models or runs, embedded names or Hugging Face ids; the others are compared with the first"
    ),
    data: list[str] = typer.Option(
        ..., help="file of sentences with `tokens` and annotations (conllu, parquet, jsonl); may be repeated"
    ),
    probes: str = typer.Option("", help="names with commas; all that the rows allow by default (`niwaki list probes`)"),
    sentences: int = typer.Option(2000, help="sentences that are read of each file, at most"),
    examples: int = typer.Option(3000, help="examples of each probe, at most; three of ten are tested"),
    seed: int = typer.Option(0, help="which sentences and examples are drawn, and the labels of the control tasks"),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Ask what linear classifiers read from the layers of models: parts of speech, tree depth, dependency arcs, senses, names and more.

    niwaki probe TEACHER STUDENT --data en.conllu

    For each probe and model: accuracy on other sentences at the layer with the shortest description, selectivity (accuracy less that of a control
    task with random labels), and how many times shorter the labels become (minimum description length). --json has all layers.
    """
    from niwaki import api
    from niwaki.core import log
    from niwaki.evaluate.probing.probe import table

    log.quiet(quiet)
    names = [name.strip() for name in probes.split(",") if name.strip()]
    found = api.probe(models, data, probes=names, sentences=sentences, examples=examples, seed=seed)
    print_result(found, json, table(found))
