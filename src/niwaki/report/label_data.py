"""The energy of a stage, from the files of its run, for labels in other formats."""

from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.meter.label_formats._format import LabelData
from niwaki.meter.reading import Reading
from niwaki.report import formatting
from niwaki.report.run_files import RunFiles, mapping

Facts = Json


def of_run(run_folder: Path, stage: str = "") -> LabelData:
    """The label data of the recommended stage, or of the named one."""
    from niwaki.core.run_folder import open_run
    from niwaki.report import content
    from niwaki.report.run_files import read_run

    verified = open_run(run_folder, full=True)
    facts = content(verified)
    wanted = stage or facts["verdict"]["deploy"]
    found = next((entry for entry in facts["stages"] if entry["name"] == wanted), None)
    if found is None:
        names = ", ".join(entry["name"] for entry in facts["stages"])
        raise InputError(f"{run_folder}: has no stage '{wanted}'; there is: {names}")
    return of_stage(facts, found, read_run(verified))


def of_stage(facts: Facts, stage: Facts, run: RunFiles) -> LabelData:
    contender = mapping(mapping(run.speed.get("contenders")).get(stage["name"]))
    detail = mapping(mapping(contender.get("energy_per_1000")).get("detail"))
    metric = facts["metric"]
    quality = f"{metric or 'score'} {formatting.score(metric, stage['score'])}" if stage["score"] is not None else ""
    return LabelData(
        name=f"{facts['name']}-{stage['name']}",
        inference=_reading(stage["energy"]["per_1000"], detail),
        training=_reading(stage["energy"]["making"], {}),
        task=str(facts["task"].get("name") or ""),
        quality=quality,
        machine=mapping(run.plan.get("hardware")),
        measured_at=str(facts["created"] or ""),
    )


def _reading(cleaned: Facts, detail: Facts) -> Reading:
    """Seconds are 0 where they are not known; a Reading has no other sign for it."""
    times = {key: cleaned[key] or 0.0 for key in ("seconds", "cpu_seconds")}
    source = cleaned["source"] or ""
    return Reading.from_dict({**cleaned, **times, "source": source, "detail": detail})
