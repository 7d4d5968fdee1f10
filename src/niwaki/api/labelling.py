"""The energy label of a model or a run, in several formats."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import display_name, in_run
from niwaki.core.run_folder import is_run
from niwaki.meter.carbon import grid
from niwaki.meter.label_formats._format import UNIT, Hardware, LabelData, render

LAPS = 4  # over the same texts, after one to warm up


def label(
    model: str | Path,
    format: str = "letter",
    *,
    stage: str = "",
    place: str | float = "",
    pue: str | float | None = None,
    embodied_kg: float | None = None,
    lifetime_years: float | None = None,
    share: float = 1.0,
) -> tuple[Json, str]:
    """The label as data and as text: letter, svg, codecarbon, hf, aies or sci.

    The figures are those of the run. For a model outside of a run, embedded sentences are timed now, and no training is known.
    """
    if (embodied_kg is None) != (lifetime_years is None):
        raise UsageError("label: give both the embodied kilograms and the years of use of the machine, or neither")
    data = _data(Path(model).expanduser(), stage)
    if place != "":
        data = replace(data, grid=grid(place, pue))
    elif pue is not None:
        raise UsageError("label: a PUE has no effect without a place; give --place too")
    if embodied_kg is not None and lifetime_years is not None:
        data = replace(data, hardware=Hardware(embodied_kg, lifetime_years, share))
    return render(format, data)


def _data(folder: Path, stage: str) -> LabelData:
    from niwaki.report.label_data import of_run

    if is_run(folder):
        return of_run(folder, stage)
    if stage:
        raise UsageError(f"{folder}: is not the folder of a run, so it has no stage '{stage}'; leave the stage out")
    home = folder.resolve().parent
    if in_run(home):  # the model of a stage
        return of_run(home.parent.parent, home.name.rpartition("-")[0])
    return measure(folder)


def measure(folder: Path) -> LabelData:
    """The energy of inferences on embedded sentences, measured now."""
    from niwaki.api.loading import load
    from niwaki.meter import meter
    from niwaki.meter.machine import machine
    from niwaki.run.export import texts_for

    predictor = load(folder)
    texts = texts_for(predictor)
    predictor.predict(texts)
    with meter() as window:
        for _ in range(LAPS):
            predictor.predict(texts)
    return LabelData(
        name=display_name(folder),
        inference=window.reading.scaled(UNIT / (LAPS * len(texts))),
        machine=machine(),
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
