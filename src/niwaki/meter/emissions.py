"""Readings in CodeCarbon's emissions.csv, for tools that read that; and a comparison of a reading with one of CodeCarbon's."""

import csv
import io
import platform
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.files import write_text
from niwaki.core.json_types import Json
from niwaki.meter.machine import machine
from niwaki.meter.reading import KWH, Reading

# the columns of codecarbon 3.3.2, in its order
# fmt: off
COLUMNS = (
    "timestamp", "project_name", "run_id", "experiment_id", "duration", "emissions", "emissions_rate", "cpu_power",
    "gpu_power", "ram_power", "cpu_energy", "gpu_energy", "ram_energy", "energy_consumed", "water_consumed",
    "country_name", "country_iso_code", "region", "cloud_provider", "cloud_region", "os", "python_version",
    "codecarbon_version", "cpu_count", "cpu_model", "gpu_count", "gpu_model", "longitude", "latitude",
    "ram_total_size", "tracking_mode", "cpu_utilization_percent", "gpu_utilization_percent",
    "ram_utilization_percent", "ram_used_gb", "on_cloud", "pue", "wue",
)
# fmt: on


def row_of(reading: Reading, project: str = "niwaki", hardware: Json | None = None) -> Json:
    """One row. CodeCarbon counts kWh and kilograms; what is not known stays empty, where it would write 0. `hardware` is that of
    another machine, where the reading was taken."""
    here, grid = hardware or machine(), reading.detail.get("grid") or {}
    kilograms = None if reading.co2e_grams is None else reading.co2e_grams / 1000
    return {
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        "project_name": project,
        "run_id": str(uuid.uuid4()),
        "duration": reading.seconds,
        "emissions": kilograms,
        "emissions_rate": kilograms / reading.seconds if kilograms is not None and reading.seconds else None,
        "cpu_power": reading.joules / reading.seconds if reading.joules is not None and reading.seconds else None,
        "energy_consumed": reading.kwh,
        "country_iso_code": grid.get("place"),
        "os": platform.platform(),
        "python_version": platform.python_version(),
        "codecarbon_version": "niwaki",
        "cpu_count": here.get("vcpus"),
        "cpu_model": here.get("cpu"),
        "ram_total_size": (here.get("memory_bytes") or 0) / 2**30 or None,
        "tracking_mode": "process",
        "on_cloud": "N",
        "pue": grid.get("pue", 1),
    }


def write_emissions(path: Path | str, readings: Iterable[Reading], project: str = "niwaki") -> None:
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(row_of(reading, project) for reading in readings)
    write_text(Path(path), text.getvalue())


def compare_with_codecarbon(reading: Reading, path: Path | str) -> Json:
    """Our joules and those of the last row of a CodeCarbon emissions.csv about the same work, and their ratio."""
    try:
        last = list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))[-1]
        theirs = float(last["energy_consumed"]) * KWH
    except (OSError, IndexError, KeyError, ValueError) as error:
        raise InputError(f"{path}: is not a CodeCarbon emissions.csv with a row ({error!r})") from None
    times = theirs / reading.joules if reading.joules else None
    return {"niwaki_joules": reading.joules, "codecarbon_joules": theirs, "codecarbon_per_niwaki": times}
