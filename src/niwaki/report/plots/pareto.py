"""Score against a cost: every contender a point with its intervals, the Pareto front through those nothing beats."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from niwaki.report.plots import svg
from niwaki.report.plots.axes import Scale, around, around_log
from niwaki.report.plots.labels import Box, place

WIDTH, HEIGHT = 460.0, 340.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 14.0, 48.0
Format = Callable[[float], str]


@dataclass(frozen=True)
class Point:
    """One contender: cost on x, score on y; a range that is not known is None."""

    name: str
    x: float
    y: float
    kind: str  # stage | chosen | reference
    tip: str  # what hovering or focusing it says
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Axis:
    title: str
    write: Format


def front(points: list[Point]) -> list[Point]:
    """Those that no other point beats: none is at least as cheap and as good, and better in one. Cheapest first."""
    ordered = sorted(points, key=lambda point: (point.x, -point.y))
    kept: list[Point] = []
    for point in ordered:
        if not kept or point.y > kept[-1].y:
            kept.append(point)
    return kept


def draw(points: list[Point], x_axis: Axis, y_axis: Axis, level: tuple[str, float] | None) -> Markup:
    """The plot; `level` is a (name, score) drawn as a line across: a baseline whose cost is not on this axis."""
    x, y = _scales(points, level)
    best = front(points)
    title = f"{y_axis.title} against {x_axis.title}"
    order = "The Pareto front, cheapest first: " + ", ".join(point.name for point in best) + "."
    return svg.figure(
        WIDTH,
        HEIGHT,
        title,
        order,
        *_frame(x, y, x_axis, y_axis),
        *_level(level, y),
        svg.path(_stairs(best, x, y), "front"),
        *[_point(point, x, y) for point in points],
        *_names(points, x, y),
    )


def _scales(points: list[Point], level: tuple[str, float] | None) -> tuple[Scale, Scale]:
    costs = [value for point in points for value in (point.x, *(point.x_range or ())) if value > 0]
    scores = [value for point in points for value in (point.y, *(point.y_range or ()))] + ([level[1]] if level else [])
    return (
        around_log(costs, LEFT, WIDTH - RIGHT),
        around(scores, HEIGHT - BOTTOM, TOP, least=0.005),
    )


def _frame(x: Scale, y: Scale, x_axis: Axis, y_axis: Axis) -> list[Markup]:
    bottom = HEIGHT - BOTTOM
    parts = [svg.line(LEFT, y(mark), WIDTH - RIGHT, y(mark), "grid") for mark in y.ticks()]
    parts += [svg.line(x(mark), TOP, x(mark), bottom, "grid") for mark in x.ticks()]
    parts += [svg.text(LEFT - 7, y(mark) + 4, y_axis.write(mark), "tick", "end") for mark in y.ticks()]
    parts += [svg.text(x(mark), bottom + 17, x_axis.write(mark), "tick", "middle") for mark in x.ticks()]
    parts.append(
        svg.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, f"{x_axis.title} (log) ← less is better", "axis", "middle")
    )
    return parts


def _level(level: tuple[str, float] | None, y: Scale) -> list[Markup]:
    if level is None:
        return []
    name, score = level
    line = svg.line(LEFT, y(score), WIDTH - RIGHT, y(score), "level")
    return [line, svg.text(WIDTH - RIGHT - 4, y(score) - 5, name, "level-name", "end")]


def _stairs(best: list[Point], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """Steps, not slopes: between two models there is none to deploy."""
    corners = [(x(best[0].x), y(best[0].y))]
    for point in best[1:]:
        corners += [(x(point.x), corners[-1][1]), (x(point.x), y(point.y))]
    return [*corners, (WIDTH - RIGHT, corners[-1][1])]


def _point(point: Point, x: Scale, y: Scale) -> Markup:
    at_x, at_y = x(point.x), y(point.y)
    bars = []
    if point.y_range:
        bars.append(svg.line(at_x, y(point.y_range[0]), at_x, y(point.y_range[1]), "bar"))
    if point.x_range and min(point.x_range) > 0:
        bars.append(svg.line(x(point.x_range[0]), at_y, x(point.x_range[1]), at_y, "bar"))
    return svg.tag(
        "g",
        svg.tag("title", point.tip),
        *bars,
        svg.tag("circle", cx=at_x, cy=at_y, r=14, class_="reach"),
        svg.tag("circle", cx=at_x, cy=at_y, r=7.5 if point.kind == "chosen" else 6, class_="mark"),
        class_=f"point {point.kind}",
        tabindex="0",
        role="img",
        aria_label=point.tip,
        data_stage=point.name,
    )


def _names(points: list[Point], x: Scale, y: Scale) -> list[Markup]:
    marks = [Box(x(p.x) - 8, y(p.y) - 8, x(p.x) + 8, y(p.y) + 8) for p in points]
    bars = [Box(x(p.x) - 1, y(p.y_range[1]), x(p.x) + 1, y(p.y_range[0])) for p in points if p.y_range]
    frame = Box(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM)
    labels = place([(x(p.x), y(p.y), p.name) for p in points], marks, bars, frame)
    return [
        svg.text(label.x, label.y, label.text, f"name {point.kind}")
        for label, point in zip(labels, points, strict=True)
    ]
