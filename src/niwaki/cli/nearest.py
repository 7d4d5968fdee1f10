"""Finds the sentences of a file that are most similar to a text, by their embeddings."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson, Column, Engine, Quiet, StageName
from niwaki.cli._print import print_result

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a sentence encoder, or of a run"),
    corpus: Path = typer.Argument(help="file of texts: jsonl, csv or tsv; any other holds one text a line"),
    queries: list[str] = typer.Argument(help="texts whose neighbours are wanted"),
    top: int = typer.Option(5, help="neighbours of each text"),
    index: str = typer.Option("", help="folder that stores the embeddings of the file for the next call"),
    column: Column = None,
    stage: StageName = "",
    head: str = typer.Option("", help="'embedding' averages the token states of a language model"),
    engine: Engine = "auto",
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Find the sentences of a file that are most similar to a text, by their embeddings.

    Every line is compared, so the result is exact. Memory does not grow with the file.
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    found = api.nearest(
        model, corpus, queries, top=top, index=index, engine=engine, columns=column or [], stage=stage, head=head
    )
    lines = [f"{one['similarity']:.4f}\t{one['line']}\t{one['text']}" for answer in found for one in answer["nearest"]]
    print_result(found, json, "\n".join(lines))
