"""Scores texts with a language model: log-likelihoods of texts, or of each token."""

from pathlib import Path

import typer

from niwaki.cli._answers import Request, answer

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a language model, or of a run"),
    texts: list[str] = typer.Argument(None, help="texts to score; none reads stdin, one text a line"),
    per_token: bool = typer.Option(False, "--per-token", help="also the log-probability of each token"),
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
    """Score texts with a language model: log-likelihoods of texts, or of each token.

    The natural logarithm, summed over the tokens that are not special. Masked models give pseudo-log-likelihoods: each token is
    predicted from all others.
    """
    from niwaki import api
    from niwaki.core import log
    from niwaki.engines.predictor import Predictor

    def open_model() -> Predictor:
        predictor = api.load_language_model(model, engine, stage=stage)
        return predictor.scoring_tokens() if per_token else predictor

    log.quiet(quiet)
    answer(Request("score", texts, in_, out, column, skip_bad, force, json), open_model)
