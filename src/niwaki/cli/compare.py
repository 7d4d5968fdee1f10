"""Compares two models, or the stages of a run: what changed, which groups pay for it, calibration, robustness, layers."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from niwaki.cli._options import AsJson, Quiet
from niwaki.cli._print import print_result

if TYPE_CHECKING:
    from niwaki.api.comparing import Comparison

PANEL = "Measure"
A = Annotated[
    str, typer.Argument(help="folder of a model; or of a run, then its stages are compared with its first one")
]
B = Annotated[str, typer.Argument(help="folder of a second model, which is compared with the first")]
Data = Annotated[
    str, typer.Option(help="rows: csv, tsv, jsonl, parquet, a folder, or a Hugging Face id; a run has its own")
]
Task = Annotated[str, typer.Option(help="name of a task (niwaki list tasks); none reads it off the columns of --data")]
Set = Annotated[list[str] | None, typer.Option("--set", help="change a setting of the data: data.text=review")]
Split = Annotated[str, typer.Option(help="train, validation, test, a further test set, or all for every row")]
Group = Annotated[list[str] | None, typer.Option(help="column of the rows: its values form groups; may be repeated")]
SeedOfA = Annotated[
    list[str] | None, typer.Option(help="the first model from a further seed, to find rows that change across seeds")
]
SeedOfB = Annotated[list[str] | None, typer.Option(help="the second model from a further seed")]
Stage = Annotated[
    str, typer.Option(help="of a run: the stage to compare with the first; none takes the recommended one")
]
Engine = Annotated[str, typer.Option(help="onnx, native or torch; none takes the first of these that can serve it")]
Out = Annotated[Path, typer.Option(help="page to write")]
MaxChurn = Annotated[float | None, typer.Option(help="limit: per cent of the predictions that may change")]
MaxLoss = Annotated[float | None, typer.Option(help="limit: points of the score that may be lost")]
MaxGroupLoss = Annotated[float | None, typer.Option(help="limit: points that any group may lose")]
NoSpeed = Annotated[bool, typer.Option("--no-speed", help="do not measure speed and energy")]
Seed = Annotated[int, typer.Option(help="seed of intervals and edits")]


def command(
    a: A,
    b: B = "",
    data: Data = "",
    task: Task = "",
    set_: Set = None,
    split: Split = "test",
    group: Group = None,
    a_seed: SeedOfA = None,
    b_seed: SeedOfB = None,
    stage: Stage = "",
    engine: Engine = "",
    out: Out = Path("changes.html"),
    max_churn: MaxChurn = None,
    max_loss: MaxLoss = None,
    max_group_loss: MaxGroupLoss = None,
    no_speed: NoSpeed = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Compare two models on the same rows, and write a page that opens offline.

    If a limit is exceeded, the exit code is 4 and stderr names it. The point estimate decides; a group needs five rows, net, that got worse.
    """
    from niwaki.api.comparing import Limits, compare
    from niwaki.core import log

    log.quiet(quiet)
    limits = Limits(max_churn, max_loss, max_group_loss)
    on_rows = partial(compare, data=data, task=task, split=split, groups=group or (), overrides=set_ or ())
    on_models = partial(on_rows, a, b, a_seeds=a_seed or (), b_seeds=b_seed or (), stage=stage, engine=engine)
    report(out, json, partial(on_models, limits=limits, speed=not no_speed, seed=seed))


def report(out: Path, as_json: bool, compare: "Callable[[], Comparison]") -> None:
    """Writes the page and the data; only then fails if a limit was exceeded."""
    from niwaki.core.errors import GateMissed
    from niwaki.core.files import require_writable

    require_writable(out.parent)
    found = compare()
    found.write(out)
    print_result({**found.facts, "page": str(out)}, as_json, f"{found!r}\npage        {out}")
    if found.exceeded:
        raise GateMissed("\n".join(found.exceeded))
