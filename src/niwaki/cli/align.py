"""Aligns word vectors of two languages, times or groups of speakers."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson, Quiet
from niwaki.cli._print import print_result, table
from niwaki.core.json_types import Json

PANEL = "Use"


def command(
    source: Path = typer.Argument(help="word vectors in word2vec's text format, the most frequent words first"),
    target: Path = typer.Argument(help="the same of another language, time or group"),
    dictionary: str = typer.Option(
        "identical", help="file of word pairs; or numerals, or identical (words that both have)"
    ),
    test: str = typer.Option("", help="file of word pairs for precision; a table with the column split may be both"),
    method: str = typer.Option("orthogonal", help="orthogonal (Procrustes) or least_squares"),
    center: bool = typer.Option(True, help="take the mean of each table away"),
    csls: bool = typer.Option(True, help="rank neighbours by CSLS, not by cosine"),
    self_learning: bool = typer.Option(False, "--self-learning", help="let the dictionary grow from the map"),
    seeds: int = typer.Option(0, help="only the first pairs of the dictionary; 0 uses all"),
    limit: int = typer.Option(200_000, min=0, help="words that are read of each table; 0 reads all"),
    changes: int = typer.Option(0, min=0, help="list so many words whose neighbours differ most"),
    out: str = typer.Option("", help="write the mapped vectors of the source to this file"),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Align word vectors of two languages, times or groups of speakers: map the source into the space of the target."""
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    found = api.align(
        source,
        target,
        dictionary,
        test=test,
        method=method,
        center=center,
        csls=csls,
        self_learning=self_learning,
        seeds=seeds,
        limit=limit,
        changes=changes,
        out=out,
    )
    print_result(found, json, "\n".join(_lines(found)))


def _lines(found: Json) -> list[str]:
    first, second = found["words"]
    lines = [f"{found['dictionary']:,} word pairs, {first:,} and {second:,} words"]
    test = found["test"]
    if test:
        shares = [
            f"{name.upper()} {100 * test[name]['value']:.1f} % ({100 * test[name]['low']:.1f} to {100 * test[name]['high']:.1f})"
            for name in ("p@1", "p@5")
            if name in test
        ]
        lines.append(", ".join([*shares, f"{test['covered']:,} of {test['words']:,} test words have vectors"]))
    rows = [{**one, "source": " ".join(one["source"]), "target": " ".join(one["target"])} for one in found["changes"]]
    return [*lines, table(rows, ("word", "cosine", "shared", "source", "target"))] if rows else lines
