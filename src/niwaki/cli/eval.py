"""Scores a saved model on a task, with intervals, as its engine runs it."""

import typer

from niwaki.cli._print import give


def command(
    model: str = typer.Argument(help="folder of a model, or of a run (then the stage it says to deploy)"),
    task: str = typer.Option("rotten_tomatoes", help="name of a task"),
    data: str = typer.Option("", help="your own rows: csv, tsv, jsonl, parquet, or a folder"),
    set_: list[str] = typer.Option([], "--set", help="change a setting of the data: data.text=review"),
    split: str = typer.Option("test", help="train, validation or test"),
    engine: str = typer.Option("auto", help="onnx or torch"),
    json: bool = typer.Option(False, "--json", help="as JSON"),
) -> None:
    """Score a saved model on a task, with intervals, as its engine runs it."""
    from niwaki import api

    result = api.evaluate(model, task=task, data=data, split=split, engine=engine, overrides=set_)
    lines = [
        f"{name:<12} {score['value']:.4f}  ({score['low']:.4f} to {score['high']:.4f})"
        for name, score in result["all"].items()
    ]
    give(result, json, "\n".join(lines))
