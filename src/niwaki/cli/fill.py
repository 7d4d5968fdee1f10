"""Fills masks: the likeliest words for ___ in a text, from a masked language model."""

from pathlib import Path

import typer

from niwaki.cli._answers import Request, answer

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a masked language model, or of a run"),
    texts: list[str] = typer.Argument(None, help="texts with ___, [MASK] or <mask>; none reads stdin, one text a line"),
    top: int = typer.Option(5, help="candidates for each mask"),
    in_: Path | None = typer.Option(
        None, "--in", help="file: jsonl, csv or tsv, packed (.gz) or not; any other holds one text a line"
    ),
    out: Path | None = typer.Option(None, help="answers as JSON lines into this file; the same command resumes it"),
    column: list[str] = typer.Option([], help="column of the texts; none tells it by its name"),
    skip_bad: bool = typer.Option(False, "--skip-bad", help="a line that cannot be read gives an error in its place"),
    force: bool = typer.Option(False, "--force", help="write --out anew, whatever is there"),
    stage: str = typer.Option("", help="of a run: this stage's model, and not the one that its report recommends"),
    engine: str = typer.Option("auto", help="onnx or torch; auto is the fastest on this machine"),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="no progress"),
    json: bool = typer.Option(False, "--json", help="as JSON; with --out, what was done"),
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
    answer(Request("fill", texts, in_, out, column, skip_bad, force, json), open_model)
