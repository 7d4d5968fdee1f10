"""Which stage to deploy, and why. The rule, in full:

1. Only finished stages with a score take part. The best is the one with the highest score.
2. A stage is good enough when its score is at least `keep` (97 %) of the best one's. The point estimate decides; where
   the low end of the stage's 95 % interval is below that line, a reason says that the test set is too small to be sure.
3. Of those, the one with the least cost is deployed. Cost is the first of these that is known for all of them: energy
   per 1000 texts, time per text (1 ÷ throughput), median latency, bytes on disk. Costs within 5 % of the least are a
   tie, which the smallest file wins, then the higher score.
4. Where the simple baseline's score is inside or above the best stage's 95 % interval, the sentence says that it would
   do.
"""

from collections.abc import Callable
from typing import Any

from niwaki.report import figures

KEEP = 0.97  # share of the best score that a stage must keep
TIE = 1.05  # costs closer than this are not told apart: repeats of a race differ by as much
Stage = dict[str, Any]
Cost = Callable[[Stage], float | None]


def _time_per_text(stage: Stage) -> float | None:
    return 1 / stage["throughput"] if stage["throughput"] else None


COSTS: dict[str, Cost] = {
    "energy per 1000 texts": lambda stage: stage["energy"]["per_1000"]["joules"],
    "time per text": _time_per_text,
    "median latency": lambda stage: stage["latency_ms"]["p50"],
    "bytes on disk": lambda stage: stage["bytes"],
}


def verdict(facts: dict[str, Any], keep: float = KEEP) -> dict[str, Any]:
    """{"deploy", "best", "keep", "cost", "sentence", "reasons", "transformer"} from the facts of a run."""
    scored = [stage for stage in facts["stages"] if stage["score"] is not None]
    if not scored:
        sentence = "No stage is finished yet, so there is nothing to deploy."
        return {
            "deploy": None,
            "best": None,
            "keep": keep,
            "cost": None,
            "sentence": sentence,
            "reasons": [],
            "transformer": None,
        }
    best = max(scored, key=lambda stage: stage["score"])
    enough = [stage for stage in scored if stage is best or stage["score"] >= keep * best["score"]]
    cost, chosen = cheapest(enough)
    need = transformer(facts, best)
    return {
        "deploy": chosen["name"],
        "best": best["name"],
        "keep": keep,
        "cost": cost,
        "sentence": _sentence(facts, chosen, best, need),
        "reasons": _reasons(facts, chosen, best, enough, cost, keep),
        "transformer": need,
    }


def cheapest(stages: list[Stage]) -> tuple[str | None, Stage]:
    """The name of the cost that decided (None where nothing but the score is known) and the stage it chose."""
    for name, cost in COSTS.items():
        costs = [cost(stage) for stage in stages]
        known = [value for value in costs if value is not None]
        if len(known) == len(stages):
            tied = [stage for stage, value in zip(stages, known, strict=True) if value <= TIE * min(known)]
            return name, min(tied, key=lambda stage: (stage["bytes"] or float("inf"), -stage["score"]))
    return None, max(stages, key=lambda stage: stage["score"])


def transformer(facts: dict[str, Any], best: Stage) -> dict[str, Any] | None:
    """The baseline against the best stage: is a difference shown, how large is it; None where no baseline was run."""
    baseline = facts["baseline"]
    if baseline is None or baseline["score"] is None:
        return None
    low = best["score"] if best["score_low"] is None else best["score_low"]
    high = baseline["score"] if baseline["score_high"] is None else baseline["score_high"]
    needed = "not shown" if baseline["score"] >= low else "yes" if high < low else "probably"
    return {
        "needed": needed,
        "gain": best["score"] - baseline["score"],
        "sentence": _need(facts, best, baseline, needed),
    }


def _need(facts: dict[str, Any], best: Stage, baseline: Stage, needed: str) -> str:
    def said(item: Stage) -> str:
        between = figures.interval(facts["metric"], item["score_low"], item["score_high"])
        return figures.score(facts["metric"], item["score"]) + (f" ({between})" if between else "")

    both = f"{baseline['name']} scores {said(baseline)}, {best['name']}, the best stage, {said(best)}"
    return {
        "yes": f"Yes: {both}, and the intervals are apart.",
        "probably": f"Probably: {both}; the baseline is below the stage's interval, but the two intervals overlap.",
        "not shown": f"Not shown: {both}, so this test set shows no difference that speaks for a transformer.",
    }[needed]


def _sentence(facts: dict[str, Any], chosen: Stage, best: Stage, need: dict[str, Any] | None) -> str:
    metric = facts["metric"]
    if chosen is best:
        quality = f"it has the best {metric or 'score'}, {figures.score(metric, chosen['score'])}"
    else:
        kept = f"{figures.score(metric, chosen['score'])} against {figures.score(metric, best['score'])}"
        quality = f"it keeps {figures.share(chosen['kept'])} of the best {metric or 'score'} ({kept})"
    gains = _gains(chosen)
    against = f" and, against {facts['reference']['stage']} in plain transformers, {gains}" if gains else ""
    if need and need["needed"] == "not shown":
        instead = f"{facts['baseline']['name']} would do; if it must be a transformer, deploy"
        return f"{instead} {chosen['name']}: {quality}{against}."
    return f"Deploy {chosen['name']}: {quality}{against}."


def _gains(stage: Stage) -> str:
    """What is really gained; a ratio at or below 1 is left to the table."""
    said = {
        "throughput": ("runs at {} the speed", 3),
        "energy": ("uses {} less energy", 2),
        "bytes": ("is {} smaller", 3),
    }
    gains = [
        text.format(figures.ratio(value, digits))
        for key, (text, digits) in said.items()
        if (value := stage["ratios"][key]) is not None and value >= TIE
    ]
    return gains[0] if len(gains) == 1 else ", ".join(gains[:-1]) + " and " + gains[-1] if gains else ""


def _reasons(
    facts: dict[str, Any], chosen: Stage, best: Stage, enough: list[Stage], cost: str | None, keep: float
) -> list[str]:
    floor = keep * best["score"]
    line = f"{figures.share(keep)} of the best, so at least {figures.score(facts['metric'], floor)}"
    missed = [stage["name"] for stage in facts["stages"] if stage["score"] is not None and stage not in enough]
    reasons = [
        f"Good enough ({line}): {', '.join(stage['name'] for stage in enough)}.",
        _choice(chosen, enough, cost),
        *_doubts(facts, chosen, best, floor),
        f"Lost too much to be considered: {', '.join(missed)}." if missed else "",
        f"Unfinished, and so not considered: {', '.join(facts['unfinished'])}." if facts["unfinished"] else "",
    ]
    return [reason for reason in reasons if reason]


def _choice(chosen: Stage, enough: list[Stage], cost: str | None) -> str:
    """Why this one of those that are good enough."""
    if len(enough) == 1:
        return ""
    if cost is None:
        return "No cost is known for all of them, so the score decided."
    costs = [COSTS[cost](stage) or 0.0 for stage in enough]
    tied = [stage["name"] for stage, value in zip(enough, costs, strict=True) if value <= TIE * min(costs)]
    why = "" if cost == next(iter(COSTS)) else " (energy per 1000 texts is not known for all of them)"
    if len(tied) == 1:
        return f"Of these, {chosen['name']} has the least {cost}{why}."
    return (
        f"Of these, {' and '.join(tied)} need the least {cost}, within 5 %{why}; {chosen['name']} is the smallest file."
    )


def _doubts(facts: dict[str, Any], chosen: Stage, best: Stage, floor: float) -> list[str]:
    """What the size of the test set leaves open."""
    low, rows, baseline = chosen["score_low"], chosen["score_rows"], facts["baseline"]
    if low is None or chosen is best:
        return []
    doubts = []
    if low < floor:
        few = f"{rows:,} test rows are too few" if rows else "the test set is too small"
        doubts.append(f"The interval of {chosen['name']} reaches below that line: {few} to be sure of it.")
    if baseline and baseline["score"] is not None and baseline["score"] >= low:
        doubts.append(
            f"{baseline['name']} lies inside the interval of {chosen['name']}: no gain of this stage over it is shown."
        )
    return doubts
