"""Writes a recipe from three answers: data, model, goal."""

import sys
from pathlib import Path

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result

PANEL = "Compress"


def command(
    data: str = typer.Option("", help="your rows: csv, tsv, jsonl, parquet, a folder, or a Hugging Face id"),
    model: str = typer.Option("", help="pretrained model: an embedded name, a folder, or a Hugging Face id"),
    goal: str = typer.Option("", help="balanced, small, fast or accurate"),
    out: Path = typer.Option(Path("recipe.toml"), help="file to write"),
    json: AsJson = False,
) -> None:
    """Write a recipe from three answers: which data, which model, which goal. On a terminal it asks for those that are missing."""
    from niwaki.core.errors import UsageError
    from niwaki.scaffold.first_recipe import GOALS, write_recipe

    questions = {
        "data": ("Your rows (file, folder or Hugging Face id)", data, ""),
        "model": ("Pretrained model", model, "minilm"),
        "goal": (f"Goal ({', '.join(GOALS)})", goal, "balanced"),
    }
    answers = {}
    for name, (question, given, default) in questions.items():
        if not given and not sys.stdin.isatty():
            raise UsageError(f"init: give --{name}; there is no terminal to ask on")
        answers[name] = given or typer.prompt(question, default=default or None, err=True)
    found = write_recipe(**answers, out=out)
    print_result(
        found,
        json,
        f"{out}: {found['recipe']} for task {found['task']}; next: niwaki check {out}, then niwaki run {out}",
    )
