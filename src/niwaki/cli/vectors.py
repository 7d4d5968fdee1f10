"""Writes an encoder's embeddings of single words as a table of word vectors."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson, Engine, Quiet
from niwaki.cli._print import print_result

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a sentence encoder, or of a run"),
    words: Path = typer.Argument(help="file with one word a line, the most frequent first"),
    out: Path = typer.Option(Path("words.vec"), help="file to write, in word2vec's text format"),
    limit: int = typer.Option(0, min=0, help="only the first words; 0 takes all"),
    engine: Engine = "auto",
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Write an encoder's embeddings of single words as a table of word vectors.

    Example: niwaki vectors multilingual-e5-small words-de.txt --out de.vec
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    found = api.word_vectors(model, words, out, engine=engine, limit=limit)
    print_result(found, json, f"{found['out']}: {found['words']:,} words, {found['size']} numbers each")
