"""Times saved models in their engines, text in to label out, in turns."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result, table
from niwaki.core.json_types import Json

PANEL = "Measure"

COLUMNS = ("stream", "model", "texts/s", "from", "to", "ratio", "p50 ms", "p95 ms", "p99 ms", "mWh/1000")


def command(
    models: list[str] = typer.Argument(
        help="folders of models, of cascades, or of runs (then the stage each says to deploy)"
    ),
    engine: list[str] = typer.Option(
        [],
        help="an engine of `niwaki list engines`, may be given several times; none compares all that can run the model except torch",
    ),
    stream: list[str] = typer.Option(
        [], help="mixed, short, 128 or 384, may be given several times; none takes all that the models can read"
    ),
    rounds: int = typer.Option(6, min=6, max=1000, help="laps of each, in turns"),
    threads: int = typer.Option(0, min=0, max=1024, help="none takes all cores"),
    plot: Path | None = typer.Option(None, help="also draw it: a file that ends in .svg"),
    json: AsJson = False,
) -> None:
    """Time saved models and engines side by side: throughput, latency of single requests, energy, with 95 % intervals.

    Texts are sentences of the embedded reviews: as they come (mixed), or cut to 12, 128 and 384 tokens. All take turns in one process,
    so that a busy machine is unfair to none; ratios are to the first.
    """
    from niwaki import api

    if plot is not None:
        _check_plot(plot)
    result = api.bench(models, engines=engine, streams=stream, rounds=rounds, threads=threads or None)
    rows = [
        _row(name, label, one) for name, part in result["streams"].items() for label, one in part["contenders"].items()
    ]
    if plot is not None:
        _draw(plot, result)
    print_result(result, json, table(rows, COLUMNS))


def _draw(plot: Path, result: Json) -> None:
    from niwaki.core.files import write_text
    from niwaki.report.plots.bar_chart import bar_chart

    throughput = {
        name: {
            label: tuple(contender["throughput"][key] for key in ("value", "low", "high"))
            for label, contender in part["contenders"].items()
        }
        for name, part in result["streams"].items()
    }
    write_text(plot, str(bar_chart(throughput, "texts/s")))


def _check_plot(plot: Path) -> None:
    """Before minutes of measuring."""
    from niwaki.core.errors import InputError, UsageError

    if plot.suffix != ".svg":
        raise UsageError(f"--plot {plot}: must end in .svg, which is what is drawn")
    if plot.is_dir() or not plot.parent.is_dir():
        raise InputError(f"{plot}: {'is a folder' if plot.is_dir() else 'its folder is not there; make it first'}")


def _row(stream: str, label: str, one: Json) -> Json:
    through, latency, energy = one["throughput"], one["latency_ms"], one["energy_per_1000"].get("joules")
    return {
        "stream": stream,
        "model": label,
        "texts/s": through["value"],
        "from": through["low"],
        "to": through["high"],
        "ratio": one["ratio"]["value"],
        "p50 ms": latency["p50"],
        "p95 ms": latency["p95"],
        "p99 ms": latency["p99"],
        "mWh/1000": None if energy is None else energy / 3.6,
    }
