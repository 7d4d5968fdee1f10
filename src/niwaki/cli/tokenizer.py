"""Makes a tokenizer from files of texts, and says how it does on texts that it has not seen."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result

PANEL = "Compress"


def command(
    files: list[Path] = typer.Argument(help="texts: lines of a plain file, or csv, tsv, jsonl, parquet, a folder"),
    split: str = typer.Option("bpe", help="bpe, wordpiece, words, bytes or characters"),
    vocab_size: int = typer.Option(
        8000, help="maximum vocabulary size, special tokens included; ignored for bytes and characters"
    ),
    out: Path = typer.Option(Path("tokenizer"), help="folder to write"),
    column: list[str] = typer.Option([], help="column of a table that contains texts; may be repeated"),
    json: AsJson = False,
) -> None:
    """Make a tokenizer from files of texts: tokenizer.json, with [PAD], [BOS], [EOS], [UNK] as ids 0 to 3.

    A tenth of the texts, drawn by their hash, is held back: on these it is tried, and the tokens per word and the share that is
    unknown are printed.
    """
    from niwaki import api

    result = api.tokenizer(files, split=split, vocab_size=vocab_size, out=out, columns=column)
    seen = (
        f"{result['tokens_per_word']:.3f} tokens per word, {result['unknown']:.3%} unknown on {result['held_back']} texts that were held back"
        if result["unknown"] is not None
        else "too few texts to hold any back"
    )
    print_result(result, json, f"{result['out']}: {result['vocab_size']} tokens ({result['split']})\n{seen}")
