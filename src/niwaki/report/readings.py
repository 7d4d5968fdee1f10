"""Energy readings with a tier and a range, and sums that never treat unknown as 0."""

from collections.abc import Iterable, Mapping

from niwaki.core.json_types import Json
from niwaki.report.run_files import number

TIERS = ("measured", "apportioned", "estimated", "unknown")  # strongest first
AMOUNTS = ("seconds", "cpu_seconds", "joules", "joules_low", "joules_high", "marginal_joules", "co2e_grams", "usd")
STATUSES = ("done", "failed", "interrupted", "killed", "open")
Reading = Json


def reading(value: object) -> Reading:
    """A reading with all of its keys. No joules means tier "unknown", whatever was claimed."""
    given: Mapping[str, object] = value if isinstance(value, dict) else {}
    amounts: Reading = {key: number(given.get(key)) for key in AMOUNTS}
    if amounts["joules"] is not None and amounts["joules"] < 0:
        amounts["joules"] = None
    low, joules, high = (amounts[key] for key in ("joules_low", "joules", "joules_high"))
    if (
        None in (low, joules, high) or not 0 <= low <= joules <= high
    ):  # a range that does not contain the value is ignored
        amounts["joules_low"] = amounts["joules_high"] = None
    tier = given.get("tier") if given.get("tier") in TIERS else "unknown"
    source = given.get("source")
    return {
        **amounts,
        "tier": "unknown" if amounts["joules"] is None else tier,
        "source": None if source is None else str(source),
    }


def add(readings: Iterable[Reading]) -> Reading:
    """Their sum. A part that is unknown makes the sum a lower bound: `unknown` counts such parts, by joules.

    The sum's tier is the weakest among the parts that are known; an amount that no part knows stays null. CO2e and
    money need every part: a sum over some parts would look like the whole.
    """
    parts = list(readings)
    known = [part for part in parts if part["joules"] is not None]
    total: Reading = {key: _sum(part[key] for part in parts) for key in AMOUNTS}
    for end in ("joules_low", "joules_high"):  # a part without a range counts with its value
        total[end] = _sum(part["joules"] if part[end] is None else part[end] for part in known)
    for whole in ("co2e_grams", "usd", "marginal_joules"):
        if any(part[whole] is None for part in parts):
            total[whole] = None
    total["tier"] = max((part["tier"] for part in known), key=TIERS.index, default="unknown")
    total["source"] = ", ".join(sorted({part["source"] for part in known if part["source"]})) or None
    total["unknown"] = len(parts) - len(known)
    return total


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def charges(ledger: list[Json]) -> list[Json]:
    """One line per attempt, from a ledger with the events begin, beat and charge.

    The first charge of an id counts. An attempt without a charge is "open", with its last beat: it may still run or was killed, which
    the files do not show; the next start of the run charges it as killed.
    """
    closed = [line for line in ledger if line.get("event") in (None, "charge")]
    known = {str(line["id"]): line for line in reversed(closed) if line.get("id") is not None}
    beats = {str(line.get("id")): line.get("reading") for line in ledger if line.get("event") == "beat"}
    begun = [line for line in ledger if line.get("event") == "begin" and str(line.get("id")) not in known]
    still = [{**line, "status": "open", "reading": beats.get(str(line.get("id")))} for line in begun]
    return [line for line in closed if line.get("id") is None or known[str(line["id"])] is line] + still


def spent(ledger: list[Json], order: list[str]) -> Json:
    """Totals of the ledger by stage: planned stages first, in order, then whatever else it names."""
    ledger = charges(ledger)
    names = list(dict.fromkeys([*order, *(str(line.get("stage")) for line in ledger)]))
    by_name = {name: [line for line in ledger if str(line.get("stage")) == name] for name in names}
    return {
        "stages": [{"stage": name, **_account(lines)} for name, lines in by_name.items() if lines],
        "total": add(reading(line.get("reading")) for line in ledger),
        "lost": add(reading(line.get("reading")) for line in ledger if line.get("status") not in ("done", "open")),
    }


def _account(lines: list[Json]) -> Json:
    kinds = list(dict.fromkeys(str(line.get("what")) for line in lines))
    return {
        "entries": len(lines),
        "statuses": {name: sum(line.get("status") == name for line in lines) for name in STATUSES},
        "reading": add(reading(line.get("reading")) for line in lines),
        "by": {
            kind: add(reading(line.get("reading")) for line in lines if str(line.get("what")) == kind) for kind in kinds
        },
    }
