"""Continues texts with a causal language model: temperature, top-k and nucleus sampling."""

import sys
from collections.abc import Iterator

import typer

from niwaki.cli._options import LanguageModelEngine, StageName
from niwaki.cli._print import print_result, print_text

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a causal language model, or of a run"),
    prompts: list[str] = typer.Argument(None, help="texts to continue; none reads stdin, one prompt a line"),
    tokens: int = typer.Option(50, help="most tokens of a continuation"),
    temperature: float = typer.Option(1.0, help="divides the logits; 0 takes the likeliest token"),
    top_k: int = typer.Option(0, "--top-k", help="sample from this many of the likeliest tokens; 0: from all"),
    top_p: float = typer.Option(1.0, "--top-p", help="sample from the likeliest tokens of together this probability"),
    seed: int = typer.Option(0, help="seed; the same seed gives the same texts"),
    stop: list[str] = typer.Option([], help="text that ends a continuation; may be repeated"),
    stage: StageName = "",
    engine: LanguageModelEngine = "auto",
    json: bool = typer.Option(False, "--json", help="texts, continuations and log-likelihoods as JSON"),
) -> None:
    """Continue texts with a causal language model: temperature, top-k and nucleus sampling.

    One prompt is printed as it grows, several when all are finished. A text ends with the model's end token, a stop text, the number
    of tokens, or the longest text that the model reads.
    """
    from niwaki import api
    from niwaki.core.errors import InputError

    given = prompts or [line.rstrip("\n") for line in sys.stdin]
    if not given:
        raise InputError("sample: no prompt was given; pass prompts, or lines on stdin")
    how = {
        "max_new_tokens": tokens,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "seed": seed,
        "stop": stop,
    }
    predictor = api.load_language_model(model, engine, stage=stage)
    if len(given) == 1 and not json:
        _print_stream(given[0], predictor.stream(given[0], **how))
        return
    found = predictor.sample(given, **how)
    rows = [{"prompt": prompt, **one.record()} for prompt, one in zip(given, found, strict=True)]
    print_result(rows, json, "\n".join(one.line() for one in found))


def _print_stream(prompt: str, parts: Iterator[str]) -> None:
    first = next(parts, "")  # errors come before any output
    print_text(prompt + first)
    for part in parts:
        sys.stdout.flush()
        print_text(part)
    print_text("\n")
