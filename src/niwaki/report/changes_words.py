"""Words for what a comparison found: shares, points, intervals, verdicts. The page and the short summary use the same."""

from niwaki.core.json_types import Json
from niwaki.report import formatting

KINDS = {
    "broken": "worse than before",
    "fixed": "better than before",
    "neither": "changed, and neither better nor worse",
}
VERDICTS = {
    "loss": "a loss is shown",
    "gain": "a gain is shown",
    "too few rows": "too few rows to decide",
    "no difference shown": "no difference shown",
}


def percent(value: float | None) -> str:
    return formatting.UNKNOWN if value is None else f"{100 * value:.1f} %"


def share(found: Json) -> str:
    """ "5.2 % (3.9–6.8 %)"."""
    return f"{percent(found['value'])} ({100 * found['low']:.1f}–{percent(found['high'])})"


def points(value: float | None) -> str:
    """ "+1.2", with a real minus sign and no −0."""
    return formatting.UNKNOWN if value is None else f"{100 * value:+z.1f}".replace("-", "−")


def points_with_interval(value: float, low: float, high: float) -> str:
    return f"{points(value)} ({points(low)} to {points(high)})"


def p_value(value: float | None) -> str:
    """A p-value so small that reading it made it unknown is a small one."""
    return "< 0.001" if value is None or 0 < value < 0.001 or value == 0 else f"{value:.3f}"


def headline(facts: Json) -> str:
    changed = facts["churn"]["changed"]
    return f"{percent(changed['value'])} of the predictions changed"


def lead(facts: Json) -> str:
    """The score before and after, and the group that loses most."""
    metric, models = facts["task"]["metric"], facts["models"]
    scores = [formatting.score(metric, models[side]["score"]["value"]) for side in ("a", "b")]
    apart = facts["difference"]
    between = formatting.difference(metric, apart["difference"], apart["low"], apart["high"])
    return f"{metric}: {scores[0]} with {models['a']['name']}, {scores[1]} with {models['b']['name']}: {between}. {worst(facts)}"


def worst(facts: Json) -> str:
    losses = [row for row in facts["groups"] if row["verdict"] == "loss"]
    if losses:
        row = losses[0]
        return f"Of the groups that are shown to lose, {group_name(row)} loses most: {points(-row['loss'])} points."
    return "No group is shown to lose." if facts["groups"] else "There are no groups."


def group_name(row: Json) -> str:
    return f"{row['kind']} “{row['name']}”"


def overlap_words(pie: Json) -> str:
    halves = pie["halves"]
    if halves is None:
        return "Give four seeds of each model or more to see whether the sets of disjoint seeds overlap."
    times = "" if halves["times"] is None else f", {halves['times']:.1f} times as many"
    return (
        f"From disjoint groups of {halves['seeds']} seeds, {halves['first']} and {halves['second']} rows are found; {halves['both']} are in both "
        f"sets, where chance gives {halves['expected']:.1f}{times} (p {p_value(halves['p'])}). New seeds of A alone change the modal answer of "
        f"{share(halves['between_dense'])} of the rows."
    )
