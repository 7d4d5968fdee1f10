"""Sums what runs spent, failed, repeated and killed work included."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from niwaki.cli._print import print_result, table
from niwaki.core.json_types import Json

PANEL = "Measure"

if TYPE_CHECKING:
    from niwaki.meter.ledger import Total


def command(
    runs: list[Path] = typer.Argument(None, help="folders of runs, or ledger files; none takes all below runs/"),
    by: str = typer.Option("stage", help="stage, run, month, what, status or key"),
    emissions: Path | None = typer.Option(None, help="also write a CodeCarbon-compatible emissions.csv here"),
    csv: bool = typer.Option(False, "--csv", help="one row per charge, as csv"),
    json: bool = typer.Option(False, "--json", help="the sums as JSON"),
) -> None:
    """Sum what runs spent, failed, repeated and killed work included."""
    from niwaki.core.errors import UsageError
    from niwaki.meter import Reading
    from niwaki.meter.emissions import write_emissions
    from niwaki.meter.ledger import Ledger, csv_of, total_of
    from niwaki.meter.pretraining import pretraining_of
    from niwaki.meter.published_costs import describe_equivalents

    if csv and json:
        raise UsageError("ledger: give --csv or --json, not both")
    paths = sound(ledgers(runs))
    lines = [line for path in paths for line in Ledger(path).lines()]
    if emissions:
        write_emissions(emissions, [Reading.from_dict(line["reading"]) for line in lines])
    if csv:
        print_result(None, False, csv_of(lines).rstrip("\n"))
        return
    rows = [{by: name, **_figures(total)} for name, total in total_of(lines, by).items()]
    every = total_of(lines)["all"]
    whole = {by: "all", **_figures(every)}
    columns = [by, "charges", "unknown", "seconds", "cpu_seconds", "joules", "joules_low", "joules_high", "tier"]
    columns += ["co2e_grams"] if every.reading.co2e_grams is not None else []
    shared = pretraining_of([path.parent for path in paths])
    result = {"by": by, "rows": rows, "all": whole, "pretraining": [one.to_dict() for one in shared]}
    print_result(result, json, table([*rows, whole], columns))
    remarks = [describe_equivalents(every.reading), *(one.line() for one in shared)]
    if not json and any(remarks):
        sys.stdout.flush()
        sys.stderr.write("".join(f"{remark}\n" for remark in remarks if remark))  # for people: stdout stays the table


def _figures(total: "Total") -> Json:
    """A sum with everyday equivalents of its CO2e; None if the CO2e is not known."""
    from niwaki.meter.published_costs import equivalents

    grams = total.reading.co2e_grams
    return {**total.to_dict(), "equivalents": None if grams is None else equivalents(grams)}


def ledgers(runs: list[Path] | None) -> list[Path]:
    """The ledger files of the runs that were named, or of every run here."""
    from niwaki.api import RUNS
    from niwaki.core.errors import InputError

    if not runs:
        found = sorted(RUNS.glob("*/ledger.jsonl"))
        if not found:
            raise InputError(f"{RUNS}: holds no run with a ledger; name a run's folder, or make one with `niwaki run`")
        return found
    files = [path / "ledger.jsonl" if path.is_dir() else path for path in runs]
    missing = [f"{path}: is not there, so it is no ledger; name a run's folder" for path in files if not path.is_file()]
    if missing:
        raise InputError(missing)
    return files


def sound(paths: list[Path]) -> list[Path]:
    """Raises InputError if a run's ledger lost lines that its report is based on."""
    from niwaki.core.errors import InputError
    from niwaki.core.run_folder import LEDGER, fault_in_ledger

    faults = [fault_in_ledger(path.parent) for path in paths if path.name == LEDGER]
    if found := [fault for fault in faults if fault]:
        raise InputError(found)
    return paths
