"""Writes the packed file of an exported model, for C, small packages and browsers."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a model that `niwaki export --to native` wrote, or of a run"),
    out: Path = typer.Option(Path("model.niwaki"), help="file to write"),
    processor: str = typer.Option(
        "", help="what it is for: avx512, avx2, arm, wasm, or any (plain C); by default this machine's"
    ),
    json: AsJson = False,
) -> None:
    """Write an encoder with its tokenizer as one file that opens at once: a memory map that processes share.

    C programs read it (niwaki.h), the package niwaki-predict, and web pages; see docs/packed_models.md.
    """
    from niwaki import api

    result = api.pack(model, out, processor)
    print_result(result, json, f"{result['out']}: {result['bytes'] / 1e6:.1f} MB for {result['processor']}")
