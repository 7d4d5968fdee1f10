"""Merges the encoders of several tuned models into one."""

from pathlib import Path
from typing import Literal

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result

PANEL = "Compress"
How = Literal["average", "arithmetic", "ties"]


def command(
    models: list[str] = typer.Argument(help="folders of models or runs, all tuned from the same model"),
    out: Path = typer.Option(Path("merged"), help="folder to write"),
    how: How = typer.Option("average", help="average, or with --base: arithmetic (sum of task vectors), ties"),
    base: str = typer.Option("", help="the model that all were tuned from"),
    weight: list[float] = typer.Option([], help="factor of a model, once for each; by default all the same"),
    density: float = typer.Option(0.2, help="share of each task vector that ties keeps"),
    data: list[str] = typer.Option([], help="rows to score on, before and after: one for all, or one for each model"),
    task: list[str] = typer.Option([], help="task of these rows: one for all, or one for each model"),
    split: str = typer.Option("test", help="split of the rows"),
    json: AsJson = False,
) -> None:
    """Write one model from several that were tuned from the same one, and measure what merging cost.

    Models with the same labels become one. Heads for other tasks stay apart: `niwaki predict OUT --heads all` answers with each.

    niwaki merge runs/reviews runs/topics --how ties --base minilm --data reviews.csv --data topics.csv
    """
    from niwaki import api

    result = api.merge(
        models, out, how=how, base=base, weights=weight, density=density, data=data, tasks=task, split=split
    )
    lines = [f"{name:<20} {one['folder']}{scores(one)}" for name, one in result["models"].items()]
    print_result(result, json, "\n".join(lines))


def scores(entry: dict) -> str:
    if "metric" not in entry:
        return ""
    paired = entry["paired"]
    return (
        f"  {entry['metric']} {entry['before']:.4f} → {entry['after']:.4f}"
        f" ({paired['difference']:+.4f}, {paired['low']:+.4f} to {paired['high']:+.4f})"
    )
