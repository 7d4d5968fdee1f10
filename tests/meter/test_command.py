"""Any command under a window, and CodeCarbon's file format."""

import csv
import os
import sys
from pathlib import Path

import pytest

from niwaki.core.errors import InputError, UsageError
from niwaki.meter import Reading
from niwaki.meter.command import measure
from niwaki.meter.emissions import COLUMNS, compare_with_codecarbon, write_emissions
from niwaki.meter.machine import machine, processor

from .work import BURN, PYTHON


def test_a_command_is_measured_with_its_children() -> None:
    code = "import os, sys\nif os.fork() == 0:\n    burn(0.2)\n    os._exit(0)\nos.wait(); burn(0.1)"
    measured = measure([*PYTHON, BURN + code], place="FRA")
    assert measured.exit_code == 0 and 0.3 <= measured.total.cpu_seconds < 0.5
    assert measured.total.co2e_grams is not None


def test_repeats_are_reported_separately_and_stop_at_a_failure() -> None:
    assert len(measure([*PYTHON, "pass"], repeats=3).readings) == 3
    failed = measure([*PYTHON, "raise SystemExit(7)"], repeats=3)
    assert failed.exit_code == 7 and len(failed.readings) == 1


def test_a_command_ended_by_a_signal_has_its_number() -> None:
    assert measure([*PYTHON, "import os; os.kill(os.getpid(), 9)"]).exit_code == 137


def test_a_command_that_cannot_start_is_reported_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"no-such-program cannot be started \(No such file"):
        measure(["no-such-program"])
    with pytest.raises(UsageError, match="no command given"):
        measure([])
    with pytest.raises(UsageError, match="repeats"):
        measure(["true"], repeats=0)


def test_emissions_csv_has_codecarbons_columns_and_units(tmp_path: Path) -> None:
    path = tmp_path / "emissions.csv"
    known = Reading(
        10.0, 5.0, 3.6e6, 1.2e6, 1.1e7, 2e6, "estimated", "vcpu", 56.0, detail={"grid": {"place": "FRA", "pue": 1.0}}
    )
    write_emissions(path, [known, Reading(1.0, 1.0)], project="demo")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert tuple(rows[0]) == tuple(COLUMNS) and len(COLUMNS) == 38
    assert float(rows[0]["energy_consumed"]) == 1.0 and float(rows[0]["emissions"]) == 0.056
    assert rows[0]["country_iso_code"] == "FRA" and float(rows[0]["cpu_power"]) == pytest.approx(3.6e5)
    assert rows[1]["energy_consumed"] == rows[1]["emissions"] == ""  # not known, so not 0


def test_a_reading_is_compared_with_codecarbon(tmp_path: Path) -> None:
    path = tmp_path / "emissions.csv"
    path.write_text("timestamp,energy_consumed\n1,0.5\n2,0.000002\n")
    found = compare_with_codecarbon(Reading(1.0, 1.0, 2.4), path)
    assert found["codecarbon_joules"] == pytest.approx(7.2) and found["codecarbon_per_niwaki"] == pytest.approx(3)
    path.write_text("nothing\n")
    with pytest.raises(InputError, match="not a CodeCarbon"):
        compare_with_codecarbon(Reading(1.0, 1.0, 2.4), path)


def test_the_machine_is_described() -> None:
    here = machine()
    assert here["vcpus"] == os.cpu_count() and here["memory_bytes"] > 2**28 and here["cpu"]
    assert 0 <= here["steal"] <= 1 and here["load"] >= 0
    assert sys.platform != "linux" or isinstance(here["virtualised"], bool | None)


def test_a_processor_file_is_read_and_its_absence_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Xeon\n"
        "flags\t: fpu hypervisor\n\nvendor_id: x\n"
    )
    found = processor(str(file))
    assert (found["vendor"], found["family"], found["model"], found["virtualised"]) == ("GenuineIntel", 6, 207, True)
    assert found["stepping"] is None and processor(str(tmp_path / "none"))["family"] is None
