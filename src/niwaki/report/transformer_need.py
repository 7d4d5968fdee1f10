"""Do you need a transformer here? The best stage against the baseline, answered with figures. The rule:

Where the two were compared on the same test rows, the 95 % interval of their difference decides: "yes" where it is above
0, "not shown" where it holds 0, "no" where it is below. Else their two intervals do: "not shown" where the baseline's
score is inside or above the stage's, "probably" where they overlap, "yes" where they are apart.

Only baselines without a transformer answer this question. A linear model on a frozen encoder runs one, so it answers another:
whether fine-tuning is needed (`fine_tuning`), by the same rule.
"""

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.comparisons import find_comparison

FINE_TUNING = {
    "yes": "Fine-tuning is worth it",
    "probably": "Fine-tuning is probably worth it",
    "not shown": "Fine-tuning may not be needed, but a linear model on the frozen encoder still runs the whole transformer",
    "no": "Fine-tuning does not help here, but a linear model on the frozen encoder still runs the whole transformer",
}
Facts = Json


def transformer_need(facts: Facts, best: Facts) -> Facts | None:
    """{"needed", "gain", "sentence", "short"}; None where no baseline was run. `short` is for the verdict's sentence."""
    baseline = facts["baseline"]
    if baseline is None or baseline["score"] is None:
        return None
    metric, paired = facts["metric"], find_comparison(facts, best["name"], baseline["name"])
    if paired:
        return {"gain": paired["difference"], **_by_pair(metric, best, baseline, paired)}
    return {"gain": best["score"] - baseline["score"], **_by_intervals(metric, best, baseline)}


def fine_tuning(facts: Facts, best: Facts) -> Facts | None:
    """{"needed", "gain", "sentence"}: the best stage against a frozen encoder; None where none was scored."""
    frozen = max(
        (entry for entry in facts["baselines"] if entry["transformer"] and entry["score"] is not None),
        key=lambda entry: entry["validation"] or 0.0,
        default=None,
    )
    if frozen is None:
        return None
    paired = find_comparison(facts, best["name"], frozen["name"])
    gain = paired["difference"] if paired else best["score"] - frozen["score"]
    needed = _needed(best, frozen, paired)
    metric = facts["metric"]
    both = f"{best['name']}, the best stage, scores {formatting.scored(metric, best)}, {frozen['name']} {formatting.scored(metric, frozen)}"
    rows = f"; on the same test rows: {paired['words']}" if paired else ""
    return {"needed": needed, "gain": gain, "sentence": f"{FINE_TUNING[needed]}: {both}{rows}."}


def _needed(best: Facts, baseline: Facts, paired: Facts | None) -> str:
    if paired:
        return "not shown" if not paired["shown"] else "yes" if paired["low"] > 0 else "no"
    return str(_by_intervals(None, best, baseline)["needed"])


def answer(facts: Facts) -> str:
    """The sentence under the question, whatever is known."""
    if facts["verdict"]["transformer"]:
        return str(facts["verdict"]["transformer"]["sentence"])
    missing = (
        "stages and baseline are not both scored yet"
        if facts["baseline"]
        else "no baseline without a transformer was run"
    )
    return f"Not known: {missing}."


def _by_pair(metric: str | None, best: Facts, baseline: Facts, pair: Facts) -> Facts:
    name = baseline["name"]
    both = f"{best['name']}, the best stage, scores {formatting.scored(metric, best)}, {name} {formatting.scored(metric, baseline)}"
    if not pair["shown"]:
        change = formatting.difference(metric, pair["difference"], pair["low"], pair["high"])
        sentence = f"No difference shown: {both}; on the same test rows that is {change}."
        return {"needed": "not shown", "sentence": sentence, "short": f"{name} would do"}
    if pair["low"] > 0:
        sentence = f"Yes: {both}; on the same test rows {pair['words']}."
        gain = formatting.difference(metric, pair["difference"], pair["low"], pair["high"], sign="-")
        return {"needed": "yes", "sentence": sentence, "short": f"The best stage gains {gain} over {name}"}
    sentence = f"No, {name} is better: {both}; on the same test rows {pair['words']}."
    return {"needed": "no", "sentence": sentence, "short": f"{name} is better"}


def _by_intervals(metric: str | None, best: Facts, baseline: Facts) -> Facts:
    low = best["score"] if best["score_low"] is None else best["score_low"]
    high = baseline["score"] if baseline["score_high"] is None else baseline["score_high"]
    stage = f"{best['name']}, the best stage, {formatting.score_with_interval(metric, best)}"
    both = f"{baseline['name']} scores {formatting.score_with_interval(metric, baseline)}, {stage}"
    if baseline["score"] >= low:
        sentence = f"Not shown: {both}, so this test set shows no difference that speaks for a transformer."
        return {"needed": "not shown", "sentence": sentence, "short": f"{baseline['name']} would do"}
    if high < low:
        return {"needed": "yes", "sentence": f"Yes: {both}, and the intervals are apart.", "short": ""}
    overlap = "the baseline is below the stage's interval, but the two intervals overlap"
    return {"needed": "probably", "sentence": f"Probably: {both}; {overlap}.", "short": ""}
