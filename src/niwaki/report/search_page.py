"""The page of a search: Pareto fronts, every trial, what mattered, and the selected model."""

from collections import Counter
from collections.abc import Callable, Iterator

from markupsafe import Markup

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.page import asset, environment, policy
from niwaki.report.page_plots import Drawings
from niwaki.report.plots import pareto

COSTS = (  # key of a model, title, unit of its axis, factor
    ("bytes", "size", "MB", 1e-6),
    ("latency_ms", "latency", "ms", 1.0),
    ("joules_per_1000", "energy", "J", 1.0),
)
REJECTED = "rejected"
LABELLED = 24  # points whose name is drawn; more would only be numbers


def search_page(found: Json) -> str:
    """The content of search.html, from that of search.json."""
    style, script = asset("page.css"), asset("page.js")
    return (
        environment(html=True)
        .get_template("search.html.j2")
        .render(
            found=found,
            headline=headline(found),
            fronts=[(title, front(found, key, unit, factor)) for key, title, unit, factor in COSTS],
            rows=list(rows(found)),
            rejected=rejected(found),
            importance=importance(found),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
        )
    )


def headline(found: Json) -> Json:
    one = found["selected"]
    if one is None:
        lead = "No trial was finished, and the source has no copy in another number format."
        return {"title": "Nothing selected", "lead": lead, "tiles": [], "missed": [], "payback": ""}
    test = one["test"]
    kept = "" if test["kept"] is None else f", {test['kept']:.1%} of the source's"
    where = "the source's own copy" if one["trial"] < 0 else f"trial {one['trial']}"
    score = f"{test['metric']} {test['selected']['value']:.4f} on test rows{kept}"
    tiles = [
        ("size", formatting.megabytes(one["bytes"]), f"source {formatting.megabytes(found['source']['bytes'])}"),
        (
            "latency, p99",
            formatting.milliseconds(one["p99_ms"]),
            f"median {formatting.milliseconds(one['latency_ms'])}",
        ),
        (
            "energy per 1000 texts",
            joules(one["joules_per_1000"]),
            f"source {joules(found['source']['time']['joules_per_1000'])}",
        ),
    ]
    if test["kept"] is not None:
        rows_used = f"{test['kept_low']:.1%} to {test['kept_high']:.1%}, paired, on {test['selected']['rows']:,} rows"
        tiles.insert(0, ("of the source's score", f"{test['kept']:.1%}", rows_used))
    return {
        "title": ("Within all limits" if not one["missed"] else "Nearest to the limits") + f": {where}",
        "lead": f"{one['format']} in the {one['engine']} engine, {score}. The search never used the test rows.",
        "tiles": [{"name": name, "value": value, "detail": detail} for name, value, detail in tiles],
        "missed": one["missed"],
        "payback": f"Instead of the source in its own engine, the search {one['payback']['words']}",
    }


def joules(value: float | None) -> str:
    return formatting.UNKNOWN if value is None else f"{formatting.significant(value, 3)} J"


def models(found: Json) -> Iterator[tuple[str, int, Json]]:
    """(name, trial, model) of everything that was measured; the source's own formats are trial -1."""
    for number, variants in [
        (-1, found["source"]["variants"]),
        *((t["number"], t.get("variants", [])) for t in found["trials"]),
    ]:
        for one in variants:
            name = "source" if number < 0 else str(number)
            yield f"{name} {one['format']}/{one['engine']}", number, one


def front(found: Json, key: str, unit: str, factor: float) -> Drawings:
    """Score against a cost, for wide and narrow pages: the Pareto front and what is near it."""
    chosen = found["selected"] or {}
    points, seen = [], set[tuple[str, float]]()
    for name, number, one in models(found):
        same = (one["key"], one[key])  # the same size in every engine
        if one[key] is None or one[key] <= 0 or (same in seen and number != chosen.get("trial")):
            continue
        seen.add(same)
        is_chosen = (number, one["key"], one["engine"]) == tuple(
            chosen.get(part) for part in ("trial", "key", "engine")
        )
        kind = "chosen" if is_chosen else "reference" if number < 0 else "stage"
        tip = f"{name}\n{found['task']['metric']} {one['score']:.4f} (validation)\n{one[key] * factor:.3g} {unit}"
        points.append(pareto.Point(name, one[key] * factor, one["score"], kind, tip))
    if not points:
        return []
    shown = nearest(points)
    size = pareto.Axis(f"{unit}", lambda value: f"{value:g} {unit}")
    score = pareto.Axis(found["task"]["metric"], lambda value: f"{value:.3g}")
    sizes = {"wide": pareto.WIDE, "narrow": pareto.NARROW}
    return [(name, pareto.draw(shown, size, score, None, wide)) for name, wide in sizes.items()]


def nearest(points: list[pareto.Point]) -> list[pareto.Point]:
    """Not too many points: the front, the selected one, and the best of the others."""
    best = pareto.front(points)
    needed = [point for point in points if point in best or point.kind == "chosen"]
    others = sorted((point for point in points if point not in needed), key=lambda point: -point.y)
    return [*needed, *others[: max(0, LABELLED - len(needed))]]


def rows(found: Json) -> Iterator[Json]:
    """A row for each trial that took any work."""
    chosen = found["selected"] or {}
    best = smallest_missing(found)
    for trial in (one for one in found["trials"] if one["status"] != REJECTED):
        is_chosen = trial["number"] == chosen.get("trial")
        one = chosen if is_chosen else min(trial.get("variants", []), key=best, default={})
        kept = one["score"] / found["source"]["score"] if one else (trial.get("part_scores") or [None])[-1]
        status = trial["status"] + (f": {trial['reason']}" if trial.get("reason") else "")
        yield {
            "name": f"trial {trial['number']}",
            "selected": is_chosen,
            "status": f"{one['format']} in {one['engine']}" if one else status,
            "kept": kept,
            "bytes": one.get("bytes"),
            "latency_ms": one.get("latency_ms"),
            "p99_ms": one.get("p99_ms"),
            "joules": joules(one.get("joules_per_1000")),
            "seconds": trial["seconds"],
            "what": point_text(trial["point"]),
            "recipe": f"trials/{trial['number']:03d}.toml" if one else "",
        }


def rejected(found: Json) -> list[tuple[str, int]]:
    """Why points were rejected before any work, and how many, the most common reason first."""
    return Counter(trial["reason"] for trial in found["trials"] if trial["status"] == REJECTED).most_common()


def smallest_missing(found: Json) -> Callable[[Json], tuple[float, float]]:
    """An order of models: by what they miss of the score to keep and the size limit, then by size."""
    settings, whole = found["settings"], found["source"]["score"]
    least = settings.get("keep", 0.0 if settings["objective"] == "score" else 0.97)

    def order(one: Json) -> tuple[float, float]:
        over = max(0.0, one["bytes"] / 1e6 / settings["max_mb"] - 1) if settings.get("max_mb") else 0.0
        return over + max(0.0, least - one["score"] / whole), one["bytes"]

    return order


def point_text(point: Json) -> str:
    """What a point varies, without what is off."""
    shown = {path.removeprefix("stages.").replace(".methods.", "."): value for path, value in point.items()}
    return ", ".join(f"{path} = {value}" for path, value in shown.items() if value != "off") or "all off"


def importance(found: Json) -> list[Json]:
    """The settings, the most important first."""
    shares = sorted(found["importance"].items(), key=lambda item: -item[1])
    values = {path: ", ".join(map(str, given)) for path, given in found["dimensions"].items()}
    return [{"name": path, "share": share, "values": values.get(path, "")} for path, share in shares]
