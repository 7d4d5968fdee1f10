"""Which stage to deploy, and why. The rule, in full:

1. Only finished stages with a score take part, their quantized copies too. The best is the one with the highest score.
2. A stage is good enough when its score is at least `keep` (97 %) of the best one's. The point estimate decides; where
   the low end of the stage's 95 % interval is below that line, a reason says that the test set is too small to be sure.
3. Of those, the one with the least cost is deployed, as run by the engine that `niwaki.load` picks. Cost is the first of these that is known for all of them: energy
   per 1000 texts, time per text (1 ÷ throughput), median latency, bytes on disk. Costs within 5 % of the least are a
   tie, which the smallest file wins, then the higher score.
4. Where a baseline without a transformer would do, or is better (`report/transformer_need.py`), the sentence says so.

With several seeds every score here is the mean over them. A best score that is not above 0 (Matthews can be) has no
97 %: then only a score as high is good enough.
"""

from collections.abc import Callable

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.comparisons import find_comparison, retention_range
from niwaki.report.transformer_need import fine_tuning, transformer_need

KEEP = 0.97  # share of the best score that a stage must keep
TIE = 1.05  # closer costs count as equal: repeated measurements differ by as much
Stage = Json
Cost = Callable[[Stage], float | None]


def as_loaded(stage: Stage) -> Stage:
    """The figures of a stage in the engine that `niwaki.load` picks, else in the portable one."""
    return stage.get("loaded") or stage


def _time_per_text(stage: Stage) -> float | None:
    throughput = as_loaded(stage)["throughput"]
    return 1 / throughput if throughput else None


COSTS: dict[str, Cost] = {
    "energy per 1000 texts": lambda stage: as_loaded(stage)["energy"]["per_1000"]["joules"],
    "time per text": _time_per_text,
    "median latency": lambda stage: as_loaded(stage)["latency_ms"]["p50"],
    "bytes on disk": lambda stage: stage["bytes"],
}


def verdict(facts: Json, keep: float = KEEP) -> Json:
    """{"deploy", "best", "keep", "cost", "sentence", "reasons", "transformer", "fine_tuning"} from the facts of a run."""
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
            "fine_tuning": None,
        }
    best = max(scored, key=lambda stage: stage["score"])
    enough = [stage for stage in scored if stage["score"] >= floor(best, keep)]
    cost, chosen = cheapest(enough)
    answer = transformer_need(facts, best)
    return {
        "deploy": chosen["name"],
        "best": best["name"],
        "keep": keep,
        "cost": cost,
        "sentence": _sentence(facts, chosen, best, answer),
        "reasons": _reasons(facts, chosen, best, enough, cost, keep),
        "transformer": answer,
        "fine_tuning": fine_tuning(facts, best),
    }


def floor(best: Stage, keep: float) -> float:
    """The least score that is good enough."""
    score = float(best["score"])
    return keep * score if score > 0 else score


def cheapest(stages: list[Stage]) -> tuple[str | None, Stage]:
    """The name of the cost that decided (None where nothing but the score is known) and the stage it chose."""
    for name, cost in COSTS.items():
        costs = [cost(stage) for stage in stages]
        known = [value for value in costs if value is not None]
        if len(known) == len(stages):
            tied = [stage for stage, value in zip(stages, known, strict=True) if value <= TIE * min(known)]
            return name, min(tied, key=lambda stage: (stage["bytes"] or float("inf"), -stage["score"]))
    return None, max(stages, key=lambda stage: stage["score"])


def _sentence(facts: Json, chosen: Stage, best: Stage, answer: Json | None) -> str:
    gains = _gains(chosen)
    against = f" and, against {_plain(facts)}, {gains}" if gains else ""
    stage = f"{chosen['name']}: {_quality(facts, chosen, best)}{against}."
    needed, short = (answer["needed"], answer["short"]) if answer else ("", "")
    if needed in ("not shown", "no"):
        return f"{short}; if it must be a transformer, deploy {stage}"
    return f"Deploy {stage} {short}.".removesuffix(" .")


def _plain(facts: Json) -> str:
    """What the ratios are against, and whether they can be trusted."""
    busy = " (measured on a busy machine)" if facts["race"] and facts["race"]["busy"] else ""
    return f"{facts['reference']['stage']} in plain {facts['reference']['engine']}{busy}"


def _quality(facts: Json, chosen: Stage, best: Stage) -> str:
    metric = facts["metric"]
    own = formatting.score(metric, chosen["score"])
    if chosen is best:
        return f"it has the best {metric or 'score'}, {own}"
    both = f"{own} against {formatting.score(metric, best['score'])}"
    if chosen["kept"] is None:
        return f"its {metric or 'score'} is as good as the best ({both})"
    ends = f" ({retention_range(facts, chosen, best)})" if find_comparison(facts, chosen["name"], best["name"]) else ""
    return f"it keeps {formatting.share(chosen['kept'])}{ends} of the best {metric or 'score'} ({both})"


def _gains(stage: Stage) -> str:
    """What is really gained, with ranges, in the engine that `niwaki.load` picks; a ratio at or below 1 is left to the table."""
    texts = {
        "throughput": ("runs at {} the speed", 3),
        "energy": ("uses {} less energy", 2),
        "bytes": ("is {} smaller", 3),
    }
    ratios = as_loaded(stage)["ratios"]
    gains = [
        text.format(_ranged(ratios, key, digits)) + (_portable(stage) if key == "throughput" else "")
        for key, (text, digits) in texts.items()
        if (value := ratios[key]) is not None and value >= TIE
    ]
    return gains[0] if len(gains) == 1 else ", ".join(gains[:-1]) + " and " + gains[-1] if gains else ""


def _ranged(ratios: Stage, key: str, digits: int = 3) -> str:
    """ "7.3× (7.0–7.6×)", without a range where none is known."""
    ends = formatting.ratio_range(ratios.get(f"{key}_low"), ratios.get(f"{key}_high"), digits)
    return formatting.ratio(ratios[key], digits) + (f" ({ends})" if ends else "")


def _portable(stage: Stage) -> str:
    """The speed in the portable engine, where `niwaki.load` picks another one."""
    picked = as_loaded(stage)["engine"] if stage.get("loaded") else None
    if picked is None or picked == stage["engine"]:
        return ""
    return f" in the {picked} engine, which niwaki.load picks ({stage['engine']}: {_ranged(stage['ratios'], 'throughput')})"


def _reasons(facts: Json, chosen: Stage, best: Stage, enough: list[Stage], cost: str | None, keep: float) -> list[str]:
    least = floor(best, keep)
    share = (
        f"{formatting.share(keep)} of the best" if best["score"] > 0 else "no less than the best, which is not above 0"
    )
    line = f"{share}, so at least {formatting.score(facts['metric'], least)}"
    missed = [stage["name"] for stage in facts["stages"] if stage["score"] is not None and stage not in enough]
    reasons = [
        f"Good enough ({line}): {', '.join(stage['name'] for stage in enough)}.",
        _choice(chosen, enough, cost),
        *_doubts(facts, chosen, best, least),
        _frozen(facts),
        *map(_chosen_alternative, facts["stages"]),
        _below_in_engine(facts["metric"], chosen, least),
        f"Lost too much to be considered: {', '.join(missed)}." if missed else "",
        f"Unfinished, and so not considered: {', '.join(facts['unfinished'])}." if facts["unfinished"] else "",
        (facts.get("cascade") or {}).get("sentence", ""),
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


def _doubts(facts: Json, chosen: Stage, best: Stage, least: float) -> list[str]:
    """What the size of the test set leaves open."""
    low, rows = chosen["score_low"], chosen["score_rows"]
    if low is None or chosen is best:
        return []
    few = f"{rows:,} test rows are too few" if rows else "the test set is too small"
    below = f"The interval of {chosen['name']} reaches below that line: {few} to be sure of it."
    return [below if low < least else "", _over_baseline(facts, chosen, low)]


def _frozen(facts: Json) -> str:
    """Stages whose training was of no use."""
    names = [stage["name"] for stage in facts["stages"] if (stage.get("training") or {}).get("start_is_best") is True]
    trained = "a head trained on the frozen encoder was best on the validation rows, so no fine-tuned weights were kept"
    return f"{', '.join(names)}: {trained}." if names else ""


def _chosen_alternative(stage: Stage) -> str:
    """Which of a stage's alternatives was taken, and the errors of all."""
    choice = stage.get("choice")
    if not choice:
        return ""
    how = "cross-validation" if choice["folds"] > 1 else "the validation rows"
    each = [f"{_listed(other)}: {100 * other['error']:.1f} %" for other in choice["alternatives"]]
    return (
        f"{stage['name']}: alternative {choice['chosen'] + 1} of {len(each)} had the fewest errors in {how} "
        f"({choice['held_out']:,} rows; {'; '.join(each)})."
    )


def _listed(alternative: Json) -> str:
    named = ", ".join(alternative["methods"]) or "no method"
    return named if alternative["trains"] else f"{named}, not trained"


def _below_in_engine(metric: str | None, chosen: Stage, least: float) -> str:
    """The engine that is loaded rounds otherwise than the portable one that the scores are from."""
    loaded = as_loaded(chosen)
    if loaded is chosen or loaded["score"] is None or chosen["score"] < least or loaded["score"] >= least:
        return ""
    return f'In the {loaded["engine"]} engine {chosen["name"]} scores {formatting.score(metric, loaded["score"])}, below that line; engine="{chosen["engine"]}" gives the score above.'


def _over_baseline(facts: Json, chosen: Stage, low: float) -> str:
    """What the chosen stage gains over the baseline, where that was compared, or the doubt that it gains anything."""
    baseline = facts["baseline"]
    if baseline is None or baseline["score"] is None:
        return ""
    pair = find_comparison(facts, chosen["name"], baseline["name"])
    if pair:
        return f"{chosen['name']} against {baseline['name']}: {pair['words']}."
    inside = f"{baseline['name']} lies inside the interval of {chosen['name']}: no gain of this stage over it is shown."
    return inside if baseline["score"] >= low else ""
