"""The top of the report: which model to deploy, what it keeps and saves, and the code that uses it.

Measured figures come with their range, if it is known: the retained score from the paired comparison with the best stage, the
ratios from the repeated rounds of the speed measurement.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.comparisons import retention_range
from niwaki.report.run_files import number
from niwaki.report.verdict import as_loaded

Facts = Json
INPUTS = {  # answer type → an example input; all others take a text
    "span": '("Where was she born?", "Ada Lovelace was born in London.")',
    "choice": '("She opens the door and", ["goes in.", "the door."])',
}
RATIOS = {  # key of the ratio → better, worse, significant digits
    "bytes": ("smaller", "larger", 3),
    "throughput": ("faster", "slower", 3),
    "energy": ("less energy", "more energy", 2),  # rests on estimates
}


@dataclass(frozen=True)
class Tile:
    """One figure of the headline."""

    value: str  # "13.8×"
    name: str  # "faster"
    detail: str = ""  # "2,900 texts/s instead of 210/s"
    range: str = ""  # "13.4–14.2×"


@dataclass(frozen=True)
class Headline:
    title: str
    lead: str
    tiles: list[Tile] = field(default_factory=list)
    against: str = ""  # what the ratios are against, and what the ranges are
    code: str = ""
    folder: str = ""  # of the model, within the run's folder


def headline(facts: Facts) -> Headline:
    """The headline of a run; without a finished stage it has no figures."""
    chosen = _stage(facts, facts["verdict"]["deploy"])
    best = _stage(facts, facts["verdict"]["best"])
    if chosen is None or best is None:
        return Headline("Nothing to deploy yet", facts["verdict"]["sentence"])
    return Headline(
        _title(facts, chosen),
        _lead(facts, chosen),
        [_quality(facts, chosen, best), *_savings(facts, chosen)],
        _against(facts),
        _code(facts),
        f"{chosen['folder']}/model" if chosen["folder"] else "",
    )


def _stage(facts: Facts, name: str | None) -> Facts | None:
    return next((stage for stage in facts["stages"] if stage["name"] == name), None)


def _baseline_wins(facts: Facts) -> bool:
    answer = facts["verdict"]["transformer"]
    return bool(answer) and answer["needed"] in ("no", "not shown")


def _title(facts: Facts, chosen: Facts) -> str:
    return f"Try {facts['baseline']['name']} first" if _baseline_wins(facts) else f"Deploy {chosen['name']}"


def _lead(facts: Facts, chosen: Facts) -> str:
    """Why this model, and whether a transformer is worth it, in two sentences."""
    answer, verdict = facts["verdict"]["transformer"], facts["verdict"]
    if _baseline_wins(facts):
        found = "scores higher than" if answer["needed"] == "no" else "is not measurably worse than"
        return (
            f"{facts['baseline']['name']}, a simple baseline, {found} the best transformer of this run. "
            f"If it must be a transformer, deploy {chosen['name']}."
        )
    scored = [stage for stage in facts["stages"] if stage["score"] is not None]
    why = _why(facts, verdict, len(scored))
    return f"{why} {answer['short']}." if answer and answer["short"] else why


def _why(facts: Facts, verdict: Facts, scored: int) -> str:
    metric = facts["metric"] or "score"
    if scored == 1:
        return "The only finished model of this run."
    if verdict["cost"] is None:
        return f"The highest {metric} of {scored} models; none of their costs was measured."
    keep = formatting.share(verdict["keep"]).replace(".0 %", " %")
    return f"The cheapest of {scored} models, by {verdict['cost']}, that keeps at least {keep} of the best {metric}."


def _quality(facts: Facts, chosen: Facts, best: Facts) -> Tile:
    metric, name = facts["metric"], facts["metric"] or "score"
    if chosen is best or chosen["kept"] is None:
        ends = formatting.interval(metric, chosen["score_low"], chosen["score_high"])
        detail = "the highest of this run" if chosen is best else "as good as the best"
        return Tile(formatting.scored(metric, chosen), name, detail, ends)
    return Tile(
        formatting.share(chosen["kept"]),
        f"of the best {name} kept",
        f"{formatting.scored(metric, chosen)} instead of {formatting.score(metric, best['score'])}",
        retention_range(facts, chosen, best),
    )


def _savings(facts: Facts, chosen: Facts) -> list[Tile]:
    reference, loaded = facts["reference"], as_loaded(chosen)
    details = {
        "bytes": _instead(formatting.megabytes, chosen["bytes"], reference["bytes"]),
        "throughput": _instead(_texts, loaded["throughput"], reference["throughput"]) + _portable(chosen),
        "energy": f"{formatting.energy_with_range(loaded['energy']['per_1000'])} per 1000 texts",
    }
    return [tile for key in RATIOS if (tile := _ratio(loaded["ratios"], key, details[key]))]


def _portable(chosen: Facts) -> str:
    """The speed in the portable engine, if `niwaki.load` picks another one."""
    if as_loaded(chosen)["engine"] == chosen["engine"]:
        return ""
    ratios = chosen["ratios"]
    ends = formatting.ratio_range(ratios["throughput_low"], ratios["throughput_high"])
    return f", in the {as_loaded(chosen)['engine']} engine; {_texts(chosen['throughput'])}, {formatting.ratio(ratios['throughput'])}{f' ({ends})' if ends else ''}, in {chosen['engine']}"


def _texts(value: float | None) -> str:
    return formatting.UNKNOWN if value is None else f"{formatting.significant(value, 3)} texts/s"


def _instead(write: Callable[[float | None], str], own: float | None, other: float | None) -> str:
    return f"{write(own)} instead of {write(other)}"


def _ratio(ratios: Facts, key: str, detail: str) -> Tile | None:
    """A ratio below 1 is inverted ("1.3× slower"); an unknown one has no tile."""
    value, (better, worse, digits) = number(ratios[key]), RATIOS[key]
    if value is None or value <= 0:
        return None
    low, high = number(ratios.get(f"{key}_low")), number(ratios.get(f"{key}_high"))
    if value < 1:
        value, low, high = 1 / value, high and 1 / high, low and 1 / low
        better = worse
    return Tile(formatting.ratio(value, digits), better, detail, formatting.ratio_range(low, high, digits))


def _against(facts: Facts) -> str:
    reference, race = facts["reference"], facts["race"] or {}
    rounds = race.get("rounds")
    measured = f", from {rounds} interleaved rounds" if rounds else ""
    return (
        f"Size, speed and energy are compared with {reference['stage']} in {reference['engine']} (eager, fp32). "
        f"Ranges are 95 % intervals{measured}. Speed and energy are those of the engine that niwaki.load picks on the machine of this run."
    )


def _code(facts: Facts) -> str:
    given = INPUTS.get(facts["task"]["answer"] or "", '"your text"')
    return f'import niwaki\nprint(niwaki.load(".").predict([{given}]))'
