"""docs/measuring.md says what the code and the results say."""

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from niwaki.meter.energy_label import THRESHOLDS
from niwaki.meter.reader import all_readers
from niwaki.meter.reading import significant
from niwaki.meter.tables import rows

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def meters() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_meters", ROOT / "benchmarks" / "meters.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_meter_has_an_answer_or_an_error_for_every_job(meters: ModuleType) -> None:
    import json

    found = [json.loads(line) for line in meters.RESULTS.read_text(encoding="utf-8").splitlines()]
    documented = {(line["meter"], line["job"]) for line in found if "job" in line}
    assert documented == {(meter, job) for meter in meters.METERS for job in meters.JOBS}


def test_the_thresholds_of_the_label_are_published() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| at most |"))
    printed = [float(cell.strip().removesuffix(" J").replace(",", "")) for cell in row.split("|")[2:-2]]
    assert printed == list(THRESHOLDS.values())[:-1]


def test_every_reader_and_table_is_explained() -> None:
    assert all(f"| {reader.rank} | `{reader.name}`" in PAGE for reader in all_readers())
    tables = sorted((ROOT / "src" / "niwaki" / "meter" / "tables").glob("*.csv"))
    assert tables and all(f"`{table.name}`" in PAGE for table in tables)
    assert f"{significant(float(rows('world')[0]['grams_per_kwh']), 3)} g/kWh" in PAGE


def test_the_slow_test_requires_what_the_records_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    rows = importlib.import_module("records").read("intervals")
    assert len({row["neighbours"] for row in rows}) >= 3
    assert all(held >= 18 for row in rows for held in row["held"])
