"""Was it worth it: when the compression has paid for itself, and the energy label of what is deployed."""

from typing import Any

from niwaki.core.errors import UsageError
from niwaki.meter.label import Label, label
from niwaki.meter.payback import NOT_SHOWN, payback
from niwaki.meter.reading import Reading
from niwaki.report import figures
from niwaki.report.folder import number

SAMPLES = "cpu_seconds_per_1000"  # of a contender in speed.json: one figure per round, so that rounds can be paired
Facts = dict[str, Any]


def letters(used: Facts) -> str | None:
    """The label's letters for a reading per 1000 texts: "D", or "D–E" when its range spans two; null when unknown."""
    made = label(used["joules"], used["joules_low"], used["joules_high"])
    return None if made.letter == "?" else made.letters


def deployed_label(facts: Facts) -> Label | None:
    """The label of the stage to deploy, as a picture; None where its energy is not known."""
    stage = next((stage for stage in facts["stages"] if stage["name"] == facts["verdict"]["deploy"]), None)
    if stage is None or stage["energy"]["label"] is None:
        return None
    used = stage["energy"]["per_1000"]
    quality = f"{facts['metric'] or 'score'} {figures.score(facts['metric'], stage['score'])}, {used['tier']}"
    return label(
        *(used[key] for key in ("joules", "joules_low", "joules_high")),
        name=stage["name"],
        task=str(facts["task"].get("name") or ""),
        quality=quality,
    )


def repay(facts: Facts, contenders: Facts) -> Facts | None:
    """The payback of the deployed stage against the first, each by its own engine; None where nothing was compressed.

    Against the first stage, not the reference: changing the engine is free, so its saving pays for nothing.
    Spent is what the ledger holds for all later stages, failed attempts and dead ends included.
    """
    first, deploy = facts["stages"][0]["name"], facts["verdict"]["deploy"]
    if deploy in (None, first):
        return None
    spent = _spent([account["reading"] for account in facts["spent"]["stages"] if account["stage"] != first])
    before, after = (_samples(contenders.get(name)) for name in (first, deploy))
    if not before or not after:
        return {
            "before": first,
            "after": deploy,
            "shown": False,
            "words": f"{NOT_SHOWN}: the race left no rounds to pair",
        }
    try:
        return {"before": first, "after": deploy, **payback(spent, before, after).to_dict()}
    except UsageError as error:
        return {"before": first, "after": deploy, "shown": False, "words": f"{NOT_SHOWN}: {error}"}


def _samples(contender: Any) -> list[float]:
    values = contender.get(SAMPLES) if isinstance(contender, dict) else None
    return [value for value in map(number, values) if value is not None] if isinstance(values, list) else []


def _spent(parts: list[Facts]) -> Reading:
    return sum(
        (Reading(seconds=part["seconds"] or 0.0, cpu_seconds=part["cpu_seconds"] or 0.0) for part in parts), Reading()
    )
