"""A reliability diagram: the share of right answers against the confidence, before and after a temperature."""

from markupsafe import Markup

from niwaki.core.json_types import Json
from niwaki.report.plots import svg
from niwaki.report.plots.axes import Scale

WIDTH, HEIGHT = 330.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 26.0, 26.0, 40.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw(name: str, before: list[Json], after: list[Json]) -> Markup:
    x, y = Scale(0, 1, LEFT, WIDTH - RIGHT), Scale(0, 1, HEIGHT - BOTTOM, TOP)
    parts = [part for tick in TICKS for part in _tick(tick, x, y)]
    parts.append(svg.line(x(0), y(0), x(1), y(1), "level"))
    parts.append(svg.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "confidence", "axis", "middle"))
    parts.append(svg.text(4, 12, "share right", "axis"))
    for kind, bins in (("before", before), ("after", after)):
        points = [(x(one["confidence"]), y(one["right"])) for one in bins]
        parts.append(svg.path(points, "loss" if kind == "before" else "score"))
        parts += [_point(kind, one, x, y) for one in bins]
    return svg.figure(WIDTH, HEIGHT, f"Reliability of {name}", "The dotted line is perfect calibration", *parts)


def _tick(tick: float, x: Scale, y: Scale) -> list[Markup]:
    label = f"{100 * tick:.0f} %"
    return [
        svg.line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "grid"),
        svg.text(LEFT - 6, y(tick) + 4, label, "tick", "end"),
        svg.text(x(tick), HEIGHT - BOTTOM + 18, label, "tick", "middle"),
    ]


def _point(kind: str, one: Json, x: Scale, y: Scale) -> Markup:
    tip = f"{kind} the temperature\nconfidence {100 * one['confidence']:.1f} %, right {100 * one['right']:.1f} % of {one['rows']} rows"
    circle = svg.tag("circle", svg.tag("title", tip), cx=x(one["confidence"]), cy=y(one["right"]), r=4.0, class_="mark")
    return svg.tag(
        "g",
        circle,
        class_=f"point {'value' if kind == 'after' else ''}".strip(),
        tabindex=0,
        role="img",
        aria_label=tip,
    )
