"""Predicts for every row of a file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.api.loading import load
from niwaki.core.json_types import Json
from niwaki.engines.predictor import Predictor

if TYPE_CHECKING:
    from niwaki.engines.stream import Compute

RAY = "ray"


def predict_file(
    model: str | Path,
    source: str | Path,
    out: str | Path,
    *,
    engine: str = "auto",
    columns: Sequence[str] = (),
    skip_bad: bool = False,
    force: bool = False,
    stage: str = "",
    head: str = "",
    on: str = "",
) -> Json:
    """Writes one prediction per input of a file of any size, as JSON lines. If it is killed, the same call resumes. `on="ray"` computes on
    a Ray cluster."""
    return answer_file(
        lambda: load(model, engine, stage=stage, head=head),
        source,
        out,
        columns=columns,
        skip_bad=skip_bad,
        force=force,
        on=on,
    )


def answer_file(
    open_model: Callable[[], Predictor],
    source: str | Path,
    out: str | Path,
    *,
    columns: Sequence[str],
    skip_bad: bool,
    force: bool,
    on: str = "",
) -> Json:
    """`predict_file` with any predictor, which is opened after the paths are checked."""
    compute = compute_on(on)
    from niwaki.engines.input_file import check_columns_exist
    from niwaki.engines.partial_output import check_output_path
    from niwaki.engines.stream import predict_file as answer

    check_columns_exist(Path(source), columns)
    check_output_path(Path(out), force, [Path(source)])
    return answer(
        open_model(), Path(source), Path(out), columns=columns, skip_bad=skip_bad, force=force, compute=compute
    )


def compute_on(place: str) -> "Compute":
    """Where the answers are computed: in this process, or on `ray`."""
    from niwaki.core.errors import UsageError
    from niwaki.engines.stream import answered

    if place not in ("", RAY):
        raise UsageError(f"predict: --on is '{place}', and must be '{RAY}' or left out")
    if place != RAY:
        return answered
    from niwaki.engines.ray_tasks import answered_on_ray, package

    package()  # before anything is written
    return answered_on_ray
