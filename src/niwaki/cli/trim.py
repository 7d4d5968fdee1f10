"""Removes tokens from a model that some texts do not use."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result

PANEL = "Compress"


def command(
    model: str = typer.Argument(help="folder of a model, or of a run (then the stage it says to deploy)"),
    texts: list[Path] = typer.Argument(
        help="texts to read: lines of a plain file, or csv, tsv, jsonl, parquet, a folder"
    ),
    targets: list[Path] = typer.Option([], help="texts like those that the model should generate; may be repeated"),
    out: Path = typer.Option(Path("trimmed"), help="folder to write"),
    column: list[str] = typer.Option([], help="column of a table that contains texts; may be repeated"),
    min_count: int = typer.Option(1, min=1, help="keep tokens that occur at least this often"),
    all_characters: bool = typer.Option(True, help="keep characters that the texts lack, e.g. those of other scripts"),
    json: AsJson = False,
) -> None:
    """Write a model with the tokens of some texts only. Texts whose tokens stay get the same outputs.

    An encoder-decoder needs --targets too: both sides share one vocabulary. Example: niwaki trim opus-mt-en-fr news.en --targets news.fr
    """
    from niwaki import api

    result = api.trim(
        model,
        list(texts),
        out=out,
        targets=list(targets),
        columns=column,
        min_count=min_count,
        all_characters=all_characters,
    )
    (before, after), (first, second) = result["tokens"], result["parameters"]
    line = f"{result['out']}: {after:,} of {before:,} tokens, {second / 1e6:.1f} of {first / 1e6:.1f} million numbers"
    print_result(result, json, line)
