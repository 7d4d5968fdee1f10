"""The plots of the page: their points and tooltips, from the facts."""

from typing import Any

from markupsafe import Markup

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.plots import pareto, test_sets, training
from niwaki.report.run_files import mapping, number
from niwaki.report.verdict import as_loaded

Facts = Json
Drawings = list[tuple[str, pareto.Drawing]]  # the same plot for wide and narrow pages, by CSS class


def against_energy(facts: Facts) -> Drawings:
    """Score against energy per 1000 texts, or nothing if no contender's energy is known."""

    def cost(item: Facts) -> tuple[float | None, tuple[float, float] | None]:
        used = as_loaded(item)["energy"]["per_1000"]
        return used["joules"], _pair(used["joules_low"], used["joules_high"])

    return _pareto(facts, pareto.Axis("energy per 1000 texts", _joules), cost)


def against_latency(facts: Facts) -> Drawings:
    """Score against median latency; the bar to the right reaches to the 95th percentile."""

    def cost(item: Facts) -> tuple[float | None, tuple[float, float] | None]:
        times = as_loaded(item)["latency_ms"]
        return times["p50"], _pair(times["p50"], times["p95"])

    return _pareto(facts, pareto.Axis("median latency", lambda value: f"{value:g} ms"), cost)


def by_test_set(facts: Facts) -> Markup | None:
    """The scores of the first and of the recommended stage on each test set, such as one for each language."""
    first, metric = facts["stages"][0], facts["metric"] or "score"
    deployed = next((stage for stage in facts["stages"] if stage["name"] == facts["verdict"]["deploy"]), first)
    if not first["over_test_sets"]:
        return None
    stages = {stage["name"]: stage for stage in (first, deployed)}
    rows = {
        name: {
            stage: item["score"] if name == "test" else mapping(item["parts"].get(name)).get("score")
            for stage, item in stages.items()
        }
        for name in ("test", *first["parts"])
    }
    return test_sets.draw(rows, metric, lambda value: _tick(metric, value))


def curves(facts: Facts) -> list[tuple[str, str, Markup]]:
    """(stage, how it was trained, plot) for every stage that was."""
    metric = facts["metric"] or "score"

    def plot(stage: Facts) -> Markup:
        return training.draw(stage["name"], *_curve(stage), metric, lambda value: _tick(metric, value))

    return [(stage["name"], _how(stage), plot(stage)) for stage in facts["stages"] if any(_curve(stage))]


def _how(stage: Facts) -> str:
    done = mapping(stage["training"])
    steps, seconds = number(done.get("steps")), number(done.get("seconds"))
    trained, share = number(done.get("trained_parameters")), number(done.get("trained_share"))
    parts = [
        f"{steps:,} steps" if steps is not None else "",
        f"{trained:,} parameters trained ({100 * share:.2g} %)" if trained and share and share < 1 else "",
        formatting.duration(seconds) if seconds is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def _curve(stage: Facts) -> tuple[list[list[float]], list[list[float]]]:
    return stage["curve"]["loss"], stage["curve"]["validation"]


def _pair(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None or not 0 < low < high else (low, high)


def _joules(value: float) -> str:
    """A mark on the axis: "0.5 J", "20 J", "2 kJ"."""
    factor, unit = formatting.joule_unit(value)
    return f"{value / factor:g} {unit}"


def _tick(metric: str, value: float) -> str:
    return f"{100 * value:.3g} %" if metric in formatting.SHARES else f"{value:.3g}"


def _pareto(facts: Facts, axis: pareto.Axis, cost: Any) -> Drawings:
    reference = {**facts["reference"], "name": f"{facts['reference']['stage']} in {facts['reference']['engine']}"}
    baseline = facts["baseline"]
    contenders = [*facts["stages"], reference, *([baseline] if baseline else [])]
    points = [
        _point(item, facts, *cost(item))
        for item in contenders
        if (cost(item)[0] or 0) > 0 and item["score"] is not None
    ]
    if not points:
        return []
    metric = facts["metric"] or "score"
    level = None
    if baseline and baseline["score"] is not None and not cost(baseline)[0]:
        level = (baseline["name"], baseline["score"])
    sizes = {"wide": pareto.WIDE, "narrow": pareto.NARROW}
    scores = pareto.Axis(metric, lambda value: _tick(metric, value))
    return [(name, pareto.draw(points, axis, scores, level, size)) for name, size in sizes.items()]


def _point(item: Facts, facts: Facts, x: float, x_range: tuple[float, float] | None) -> pareto.Point:
    low, high = item["score_low"], item["score_high"]
    return pareto.Point(
        name=item["name"],
        x=x,
        y=item["score"],
        kind=_kind(item, facts),
        tip=_tip(item, facts["metric"]),
        x_range=x_range,
        y_range=None if low is None or high is None else (low, high),
    )


def _kind(item: Facts, facts: Facts) -> str:
    if "finished" not in item:
        return "reference"
    return "chosen" if item["name"] == facts["verdict"]["deploy"] else "copy" if item.get("copy_of") else "stage"


def _tip(item: Facts, metric: str | None) -> str:
    loaded = as_loaded(item)
    p50, p95 = (formatting.milliseconds(loaded["latency_ms"][key]) for key in ("p50", "p95"))
    lines = [
        item["name"] + (f" in the {loaded['engine']} engine" if loaded is not item else ""),
        f"{metric or 'score'} {formatting.score_with_interval(metric, item)}",
        f"energy per 1000 texts {formatting.energy_with_range(loaded['energy']['per_1000'])}",
        f"latency p50 {p50}, p95 {p95}",
        f"throughput {formatting.rate(loaded['throughput'])}",
        f"size {formatting.megabytes(item['bytes'])}",
    ]
    return "\n".join(line for line in lines if not line.endswith(formatting.UNKNOWN))
