"""Measures any command: seconds, joules with their range, CO2e and money. Or prints published accounts of known models."""

import contextlib
import os
import sys
from collections.abc import Iterator

import typer

from niwaki.cli._print import print_result, table

PANEL = "Measure"


def command(
    words: list[str] = typer.Argument(None, metavar="-- COMMAND...", help="what to run, after two dashes"),
    repeats: int = typer.Option(1, help="run it so often; the sum is shown"),
    place: str = typer.Option("", help="country or grid zone of the electricity, or grams of CO2e per kWh"),
    pue: str = typer.Option("", help="overhead of the data centre: a number, or a name of the table"),
    price: str = typer.Option("", help="dollars per vCPU-hour, or a name of the table"),
    reference: bool = typer.Option(False, "--reference", help="print what known models took, from their inputs"),
    json: bool = typer.Option(False, "--json", help="as JSON; the command's own output then goes to stderr"),
) -> None:
    """Measure any command: seconds, joules with their range, CO2e and money.

    Ends with the exit code of the command. The figures go to stderr, so that a pipe sees only the command's output.
    """
    from niwaki.core.errors import UsageError

    if reference and words:
        raise UsageError("measure: give a command or --reference, not both")
    if reference:
        _reference(json)
        return
    from niwaki.meter.command import measure

    options = {"place": _number(place), "pue": _number(pue), "price": _number(price)}
    with _to_stderr() if json else contextlib.nullcontext():
        measured = measure(words or [], repeats, **options)
    from niwaki.core.redaction import redact_words
    from niwaki.meter.published_costs import describe_equivalents, equivalents

    total = measured.total
    if json:
        readings = [reading.to_dict() for reading in measured.readings]
        value = {"command": redact_words(measured.command), "exit_code": measured.exit_code, "readings": readings}
        everyday = None if total.co2e_grams is None else equivalents(total.co2e_grams)
        print_result({**value, "total": total.to_dict(), "equivalents": everyday}, True, "")
    else:
        sys.stderr.write("".join(f"{line}\n" for line in (total, describe_equivalents(total)) if line))
    raise typer.Exit(measured.exit_code)


def _reference(json: bool) -> None:
    from niwaki.meter.published_costs import equivalents, patterson, strubell

    value = {"strubell": strubell(), "patterson": patterson(), "equivalents": equivalents(1e6)}
    text = [
        "Strubell et al. 2019, Table 3",
        table(
            value["strubell"], ["model", "hardware", "watts", "hours", "kwh_pue", "co2e_pounds", "usd_low", "usd_high"]
        ),
        "\nPatterson et al. 2021, Table 4",
        table(value["patterson"], ["model", "hardware", "days", "mwh", "co2e_tonnes", "published_mwh"]),
        "\none tonne of CO2e is so many times",
        table(value["equivalents"], ["what", "times", "source", "year"]),
    ]
    print_result(value, json, "\n".join(text))


def _number(text: str) -> str | float | None:
    """A name in the meter's table, or a number."""
    try:
        return float(text)
    except ValueError:
        return text or None


@contextlib.contextmanager
def _to_stderr() -> Iterator[None]:
    """Children write to stderr while this is open, so that stdout stays JSON."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
