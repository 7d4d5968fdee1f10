"""When the compression has paid for itself, and the energy label of the deployed stage."""

from collections.abc import Iterable

from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json
from niwaki.meter.energy_label import EnergyLabel, energy_label
from niwaki.meter.payback import NOT_SHOWN, payback
from niwaki.meter.reading import Reading
from niwaki.report import formatting
from niwaki.report.readings import reading
from niwaki.report.run_files import RunFiles, mapping, number

SAMPLES = "cpu_seconds_per_1000"  # of a contender in speed.json: one figure per round, for paired comparisons
REUSE, MAKING = "reuse", {"train", "make"}  # what a charge of the ledger is for
Facts = Json


def letters(used: Facts) -> str | None:
    """The label's letters for a reading per 1000 texts: "D", or "D–E" when its range spans two; null when unknown."""
    label = energy_label(used["joules"], used["joules_low"], used["joules_high"])
    return None if label.letter == "?" else label.letters


def deployed_label(facts: Facts) -> EnergyLabel | None:
    """The energy label of the stage to deploy; None if there is none or its energy is unknown."""
    stage = next((stage for stage in facts["stages"] if stage["name"] == facts["verdict"]["deploy"]), None)
    return label_of(facts, stage) if stage else None


def label_of(facts: Facts, stage: Facts) -> EnergyLabel | None:
    if stage["energy"]["label"] is None:
        return None
    used = stage["energy"]["per_1000"]
    quality = f"{facts['metric'] or 'score'} {formatting.score(facts['metric'], stage['score'])}, {used['tier']}"
    return energy_label(
        *(used[key] for key in ("joules", "joules_low", "joules_high")),
        name=stage["name"],
        task=str(facts["task"].get("name") or ""),
        quality=quality,
    )


def payback_of(facts: Facts, run: RunFiles, per_day: float | None = None) -> Facts | None:
    """The payback of the deployed stage against the first, each by its own engine; None if nothing was compressed.

    The comparison is with the first stage, not the reference, because changing the engine costs nothing. The cost is that of all later
    stages in the ledger, including failed attempts; a stage that was taken from another run costs what making it cost there. With a
    volume `per_day` it also contains days and the savings of a year.
    """
    first, deploy = facts["stages"][0]["name"], facts["verdict"]["deploy"]
    if deploy in (None, first):
        return None
    later = [account for account in facts["spent"]["stages"] if account["stage"] != first]
    earlier = [
        reading(mapping(run.results.get(account["stage"])).get("spent")) for account in later if _is_taken(account)
    ]
    spent = _spent([*(account["reading"] for account in later), *earlier], run)
    contenders = mapping(run.speed.get("contenders"))
    before, after = (_samples(contenders.get(name)) for name in (first, deploy))
    if not before or not after:
        return {
            "before": first,
            "after": deploy,
            "shown": False,
            "words": f"{NOT_SHOWN}: speed.json has no rounds to pair",
        }
    try:
        return {"before": first, "after": deploy, **payback(spent, before, after, per_day).to_dict()}
    except UsageError as error:
        return {"before": first, "after": deploy, "shown": False, "words": f"{NOT_SHOWN}: {error}"}


def _is_taken(account: Facts) -> bool:
    """Whether the run took the stage from another run and never made it."""
    return REUSE in account["by"] and not MAKING.intersection(account["by"])


def _samples(contender: object) -> list[float]:
    values = contender.get(SAMPLES) if isinstance(contender, dict) else None
    return [value for value in map(number, values) if value is not None] if isinstance(values, list) else []


def _spent(parts: list[Facts], run: RunFiles) -> Reading:
    """The sum of cleaned readings; joules are known only if those of every part are."""
    low, middle, high = (_known_sum(part[key] for part in parts) for key in ("joules_low", "joules", "joules_high"))
    seconds, cpu_seconds = (sum(part[key] or 0.0 for part in parts) for key in ("seconds", "cpu_seconds"))
    return Reading(seconds, cpu_seconds, middle, low, high, tier="estimated", detail=_terms(run))


def _known_sum(values: Iterable[float | None]) -> float | None:
    found = list(values)
    return None if None in found else sum(value or 0.0 for value in found)


def _terms(run: RunFiles) -> Facts:
    """Grid and price of the last charge, for the savings of a year; empty if none was set."""
    wanted = {"grid": ("grams_per_kwh", "pue"), "price": ("usd_per_vcpu_hour",)}
    detail: Facts = {}
    for line in run.ledger:
        recorded = mapping(mapping(line.get("reading")).get("detail"))
        for name, keys in wanted.items():
            figures = {key: number(mapping(recorded.get(name)).get(key)) for key in keys}
            if None not in figures.values():
                detail[name] = figures
    return detail
