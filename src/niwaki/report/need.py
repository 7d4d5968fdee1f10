"""Do you need a transformer here? The best stage against the baseline, answered with figures. The rule:

Where the two were compared on the same test rows, the 95 % interval of their difference decides: "yes" where it is above
0, "not shown" where it holds 0, "no" where it is below. Else their two intervals do: "not shown" where the baseline's
score is inside or above the stage's, "probably" where they overlap, "yes" where they are apart.
"""

from typing import Any

from niwaki.report import figures
from niwaki.report.comparisons import between

Facts = dict[str, Any]


def need(facts: Facts, best: Facts) -> Facts | None:
    """{"needed", "gain", "sentence", "short"}; None where no baseline was run. `short` is for the verdict's sentence."""
    baseline = facts["baseline"]
    if baseline is None or baseline["score"] is None:
        return None
    metric, paired = facts["metric"], between(facts, best["name"], baseline["name"])
    if paired:
        return {"gain": paired["difference"], **_by_pair(metric, best, baseline, paired)}
    return {"gain": best["score"] - baseline["score"], **_by_intervals(metric, best, baseline)}


def answer(facts: Facts) -> str:
    """The sentence under the question, whatever is known."""
    if facts["verdict"]["transformer"]:
        return str(facts["verdict"]["transformer"]["sentence"])
    missing = (
        "stages and baseline are not both scored yet" if facts["baseline"] else "no baseline was run beside the stages"
    )
    return f"Not known: {missing}."


def _by_pair(metric: str | None, best: Facts, baseline: Facts, pair: Facts) -> Facts:
    name = baseline["name"]
    both = f"{best['name']}, the best stage, scores {figures.scored(metric, best)}, {name} {figures.scored(metric, baseline)}"
    if not pair["shown"]:
        change = figures.difference(metric, pair["difference"], pair["low"], pair["high"])
        sentence = f"No difference shown: {both}; on the same test rows that is {change}."
        return {"needed": "not shown", "sentence": sentence, "short": f"{name} would do"}
    if pair["low"] > 0:
        sentence = f"Yes: {both}; on the same test rows {pair['words']}."
        gain = figures.difference(metric, pair["difference"], pair["low"], pair["high"], sign="-")
        return {"needed": "yes", "sentence": sentence, "short": f"The best stage gains {gain} over {name}"}
    sentence = f"No, {name} is better: {both}; on the same test rows {pair['words']}."
    return {"needed": "no", "sentence": sentence, "short": f"{name} is better"}


def _by_intervals(metric: str | None, best: Facts, baseline: Facts) -> Facts:
    low = best["score"] if best["score_low"] is None else best["score_low"]
    high = baseline["score"] if baseline["score_high"] is None else baseline["score_high"]
    stage = f"{best['name']}, the best stage, {figures.told(metric, best)}"
    both = f"{baseline['name']} scores {figures.told(metric, baseline)}, {stage}"
    if baseline["score"] >= low:
        sentence = f"Not shown: {both}, so this test set shows no difference that speaks for a transformer."
        return {"needed": "not shown", "sentence": sentence, "short": f"{baseline['name']} would do"}
    if high < low:
        return {"needed": "yes", "sentence": f"Yes: {both}, and the intervals are apart.", "short": ""}
    overlap = "the baseline is below the stage's interval, but the two intervals overlap"
    return {"needed": "probably", "sentence": f"Probably: {both}; {overlap}.", "short": ""}
