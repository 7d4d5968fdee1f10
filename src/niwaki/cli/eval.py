"""Scores a saved model, or a file of predictions, on a task, with intervals; of two, the difference."""

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result
from niwaki.core.json_types import Json

PANEL = "Measure"


def command(
    model: str = typer.Argument("", help="folder of a model, or of a run (then the stage it says to deploy)"),
    task: str = typer.Option(
        "", help="name of a task (niwaki list tasks); none takes rotten_tomatoes, or what --data looks like"
    ),
    data: str = typer.Option("", help="rows: csv, tsv, jsonl, parquet, a folder, or a Hugging Face id"),
    predictions: str = typer.Option(
        "", help="instead of a model: file with a column 'prediction', one row for each row of the split"
    ),
    against: str = typer.Option("", help="a second model or file of predictions: tells whether they differ"),
    set_: list[str] = typer.Option([], "--set", help="change a setting of the data: data.text=review"),
    split: str = typer.Option("test", help="train, validation, test, or a further test set of the task"),
    engine: str = typer.Option("", help="onnx, native or torch; none takes the first of these that can serve it"),
    json: AsJson = False,
) -> None:
    """Score a saved model, or a file of predictions, on a task, with 95 % intervals.

    With --against a second one, also their difference by a paired bootstrap over the rows, and whether one is shown.
    """
    from niwaki import api

    result = api.evaluate(
        model,
        task=task,
        data=data,
        split=split,
        engine=engine,
        overrides=set_,
        predictions=predictions,
        against=against,
    )
    print_result(result, json, "\n".join(_lines(result, against)))


def _lines(result: Json, against: str) -> list[str]:
    lines = scores(result)
    if against:
        paired = summary_of(result["against"]["paired"], result["metric"])
        lines += ["", f"against {against}", *scores(result["against"]), "", paired]
    return [*lines, "", result["caveat"]] if result["caveat"] else lines


def scores(result: Json) -> list[str]:
    return [
        f"{name:<12} {score['value']:.4f}  ({score['low']:.4f} to {score['high']:.4f})"
        for name, score in result["all"].items()
    ]


def summary_of(paired: Json, metric: str) -> str:
    between = f"{paired['difference']:+.4f} ({paired['low']:+.4f} to {paired['high']:+.4f})"
    return f"difference in {metric}: {between}: {'shown' if paired['shown'] else 'no difference shown'}"
