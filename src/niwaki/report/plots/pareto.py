"""Score against a cost: every contender a point with its intervals, the Pareto front through those nothing beats."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from markupsafe import Markup

from niwaki.report.plots import svg
from niwaki.report.plots.axes import Scale, around, around_log, side_by_side
from niwaki.report.plots.extents import shorten, text_width
from niwaki.report.plots.label_placement import Box, LabelRequest, Obstacles, PlacedLabel, place

FONT, TOP, RIGHT, BOTTOM = 12.0, 14.0, 16.0, 50.0
RADIUS = {"chosen": 7.5, "stage": 6.0, "copy": 4.5, "reference": 6.0}
IMPORTANCE = {"chosen": 0, "reference": 2, "stage": 3, "copy": 4}  # who is named first; the front comes at 1
Format = Callable[[float], str]


@dataclass(frozen=True)
class Size:
    """In pixels: a plot is shown at about this size, so that its texts have the size of the page's."""

    width: float
    height: float


WIDE, NARROW = Size(520.0, 380.0), Size(320.0, 340.0)


@dataclass(frozen=True)
class Point:
    """One contender: cost on x, score on y; a range that is not known is None."""

    name: str
    x: float
    y: float
    kind: str  # chosen | stage | copy | reference
    tip: str  # what hovering or focusing it says
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Axis:
    title: str
    write: Format


@dataclass(frozen=True)
class Drawing:
    svg: Markup
    key: list[tuple[str, str]]  # (number, name) where the plot has no room for all names; to be listed below it


@dataclass(frozen=True)
class Canvas:
    """The inner area of a plot with its two scales."""

    size: Size
    left: float
    x: Scale
    y: Scale

    @property
    def frame(self) -> Box:
        return Box(self.left, TOP, self.size.width - RIGHT, self.size.height - BOTTOM)


def front(points: list[Point]) -> list[Point]:
    """Those that no other point beats: none is at least as cheap and as good, and better in one. Cheapest first."""
    ordered = sorted(points, key=lambda point: (point.x, -point.y))
    best: list[Point] = []
    for point in ordered:
        if not best or point.y > best[-1].y:
            best.append(point)
    return best


def draw(
    points: list[Point], x_axis: Axis, y_axis: Axis, level: tuple[str, float] | None, size: Size = WIDE
) -> Drawing:
    """The plot; `level` is a (name, score) drawn as a line across: a baseline whose cost is not on this axis."""
    canvas = _canvas(points, y_axis, level, size)
    best = front(points)
    order = "Pareto front, cheapest first: " + ", ".join(point.name for point in best) + "."
    names, key = _names(points, best, level, canvas)
    drawn = svg.figure(
        size.width,
        size.height,
        f"{y_axis.title} against {x_axis.title}",
        order,
        *_frame(canvas, x_axis, y_axis),
        *_level(level, canvas),
        svg.path(_stairs(best, canvas), "front"),
        *[_point(point, canvas.x, canvas.y) for point in points],
        *names,
    )
    return Drawing(drawn, key)


def _canvas(points: list[Point], y_axis: Axis, level: tuple[str, float] | None, size: Size) -> Canvas:
    costs = [value for point in points for value in (point.x, *(point.x_range or ())) if value > 0]
    scores = [value for point in points for value in (point.y, *(point.y_range or ()))] + ([level[1]] if level else [])
    y = around(scores, size.height - BOTTOM, TOP, least=0.005)
    left = max(text_width(y_axis.write(tick), FONT) for tick in [*y.ticks(), y.low]) + 12
    return Canvas(size, left, around_log(costs, left, size.width - RIGHT), y)


def _frame(canvas: Canvas, x_axis: Axis, y_axis: Axis) -> list[Markup]:
    x, y, frame, width = canvas.x, canvas.y, canvas.frame, canvas.size.width
    columns = x.ticks(side_by_side(x, x_axis.write, FONT, width - 2))
    parts = [svg.line(frame.left, y(tick), frame.right, y(tick), "grid") for tick in y.ticks()]
    parts += [svg.line(x(tick), frame.top, x(tick), frame.bottom, "grid") for tick in columns]
    parts += [svg.text(frame.left - 7, y(tick) + 4, y_axis.write(tick), "tick", "end") for tick in y.ticks()]
    parts += [svg.text(x(tick), frame.bottom + 18, x_axis.write(tick), "tick", "middle") for tick in columns]
    title = shorten(f"← cheaper · {x_axis.title}, log scale", FONT, width - 4)
    return [*parts, svg.text(width / 2, canvas.size.height - 7, title, "axis", "middle")]


def _level(level: tuple[str, float] | None, canvas: Canvas) -> list[Markup]:
    if level is None:
        return []
    at, frame = canvas.y(level[1]), canvas.frame
    return [svg.line(frame.left, at, frame.right, at, "level")]


def _stairs(best: list[Point], canvas: Canvas) -> list[tuple[float, float]]:
    """Steps, not slopes: between two models there is none to deploy."""
    x, y = canvas.x, canvas.y
    corners = [(x(best[0].x), y(best[0].y))]
    for point in best[1:]:
        corners += [(x(point.x), corners[-1][1]), (x(point.x), y(point.y))]
    return [*corners, (canvas.frame.right, corners[-1][1])]


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
        svg.tag("circle", cx=at_x, cy=at_y, r=RADIUS[point.kind], class_="mark"),
        class_=f"point {point.kind}",
        tabindex="0",
        role="img",
        aria_label=point.tip,
        data_stage=point.name,
    )


def _names(
    points: list[Point], best: list[Point], level: tuple[str, float] | None, canvas: Canvas
) -> tuple[list[Markup], list[tuple[str, str]]]:
    """The labels, and the key to them: points are numbered where their names have no room or look alike when cut."""
    x, y = canvas.x, canvas.y
    ordered = sorted(points, key=lambda point: min(IMPORTANCE[point.kind], 1 if point in best else 9))
    wanted = [(LabelRequest(x(p.x), y(p.y), p.name, bold=p.kind == "chosen"), f"name {p.kind}") for p in ordered]
    if level:
        wanted.insert(1, (LabelRequest(x.end, y(level[1]), level[0], level=True), "level-name"))
    around = _surroundings(points, _stairs(best, canvas), canvas)
    labels = place([name for name, _ in wanted], around, FONT)
    key: list[tuple[str, str]] = []
    if len({label.text for label in labels if label}) < len(wanted):
        numbers = {point.name: str(number) for number, point in enumerate(points, 1)}
        key = [(number, name) for name, number in numbers.items()]
        wanted = [(name if name.level else replace(name, text=numbers[name.text]), kind) for name, kind in wanted]
        labels = place([name for name, _ in wanted], around, FONT)
    found = [(label, kind) for label, (_, kind) in zip(labels, wanted, strict=True) if label]
    return [part for label, kind in found for part in _text(label, kind)], key


def _text(label: PlacedLabel, kind: str) -> list[Markup]:
    lead = label.leader
    line = [svg.line(lead.x1, lead.y1, lead.x2, lead.y2, "leader")] if lead else []
    return [*line, svg.text(label.box.left, label.baseline, label.text, kind)]


def _surroundings(points: list[Point], stairs: list[tuple[float, float]], canvas: Canvas) -> Obstacles:
    x, y = canvas.x, canvas.y
    reach = {kind: radius + 2 for kind, radius in RADIUS.items()}
    point_boxes = [Box(x(p.x), y(p.y), x(p.x), y(p.y)).grown(reach[p.kind]) for p in points]
    upright = [Box(x(p.x) - 1, y(p.y_range[1]), x(p.x) + 1, y(p.y_range[0])) for p in points if p.y_range]
    across = [
        Box(x(p.x_range[0]), y(p.y) - 1, x(p.x_range[1]), y(p.y) + 1)
        for p in points
        if p.x_range and min(p.x_range) > 0
    ]
    steps = [
        Box(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)).grown(1) for (x1, y1), (x2, y2) in pairwise(stairs)
    ]
    return Obstacles(point_boxes, upright + across + steps, canvas.frame)
