"""Predicts for every row of a file."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.api.loading import load
from niwaki.core.json_types import Json


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
) -> Json:
    """Writes one prediction per input of a file of any size, as JSON lines. If it is killed, the same call resumes."""
    from niwaki.engines.input_file import check_columns_exist
    from niwaki.engines.partial_output import check_output_path
    from niwaki.engines.stream import predict_file as answer

    check_columns_exist(Path(source), columns)
    check_output_path(Path(out), force, [Path(source)])
    predictor = load(model, engine, stage=stage, head=head)
    return answer(predictor, Path(source), Path(out), columns=columns, skip_bad=skip_bad, force=force)
