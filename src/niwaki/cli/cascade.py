"""Makes one model of several, cheapest first: an input moves on only where the model before is unsure."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson, Quiet
from niwaki.cli._print import print_result, table
from niwaki.core.json_types import Json

PANEL = "Compress"


def command(
    models: list[str] = typer.Argument(
        help="folders of models, cheapest first; the last is the best. One is enough where it has exits"
    ),
    task: str = typer.Option("", help="task of the models (niwaki list tasks); none takes what --data looks like"),
    data: str = typer.Option("", help="rows: csv, tsv, jsonl, parquet, a folder, or a Hugging Face id"),
    keep: float = typer.Option(0.99, help="share of the last model's score that must be kept"),
    level: float = typer.Option(0.95, help="how sure that it is kept must be"),
    out: Path = typer.Option(Path("cascade"), help="folder to write; the models are copied into it"),
    set_: list[str] = typer.Option([], "--set", help="change a setting of the data: data.text=review"),
    engine: str = typer.Option("", help="onnx, native or torch; none takes the first that can serve each model"),
    force: bool = typer.Option(False, "--force", help="write over a cascade that is there"),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Make one model of several, cheapest first: an input moves on only where the model before is unsure.

    How sure is sure enough is chosen on the validation rows of the task, so that the share is shown to be kept; exit code 4 where
    they cannot show it. The folder is loaded, served and scored like one model.
    """
    from niwaki import api
    from niwaki.core import log

    log.quiet(quiet)
    result = api.cascade(
        models, task=task, data=data, keep=keep, level=level, out=out, overrides=set_, engine=engine, force=force
    )
    print_result(result, json, summary_of(result))


def summary_of(result: Json) -> str:
    rows = []
    scores = [
        *((model["score"], model["answers"]) for model in result["models"]),
        (result["validation"]["score"], None),
    ]
    for (name, speed), (score, answers) in zip(result["speed"].items(), scores, strict=True):
        joules = speed["joules_per_1000"]
        rows.append(
            {
                "model": name,
                "answers": "-" if answers is None else f"{answers:.1%}",
                result["metric"]: f"{score:.4f}",
                "texts/s": f"{speed['per_second']:.0f}",
                "J/1000": "-" if joules is None else f"{joules:.3g}",
            }
        )
    ratio = result["speed"]["cascade"]["ratio"]
    lines = [table(rows, list(rows[0])), ""]
    for part in ("validation", "test"):
        found = result[part]
        retained = "-" if found["kept"] is None else f"{found['kept']:.2%}"
        lines.append(f"{part}: keeps {retained} of {found['best']:.4f} on {found['rows']} rows")
    lines.append(
        f"shown, {result['level']:.0%} sure: at least {result['keep']:.1%}, where a model answers from {result['threshold']:.4f} on"
    )
    lines.append(f"{ratio['value']:.2f} × the last model alone ({ratio['low']:.2f} to {ratio['high']:.2f})")
    return "\n".join([*lines, f"cascade: {result['out']}"])
