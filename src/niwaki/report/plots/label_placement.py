"""Names next to points, placed so that they cover neither each other, nor a point, nor the edge of the plot.

Greedy: the most important name first, each at the free position nearest to its point. A name that is not next to its
point gets a leader line. A name for which there is no room is left out; the caller numbers the points then.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from niwaki.report.plots.extents import ASCENT, LINE, shorten, text_width

GAPS = (9.0, 16.0, 26.0, 38.0, 52.0, 70.0, 92.0)  # distances between a point and its name that are tried
DIRECTIONS = [2 * math.pi * step / 16 for step in range(16)]
NEAR = 14.0  # a name farther away than this gets a leader line
MARGIN = 1.5  # between two labels
LONGEST = 0.6  # of the plot's width; the whole name is in the point's own description
AMBIGUOUS = 12.0  # what a position costs that is nearer to another point, in units of distance
COVERED = 0.4  # what a unit of covered line costs, in units of distance


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Box") -> float:
        """The shared area."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(wide, 0) * max(high, 0)

    def inside(self, frame: "Box") -> bool:
        return (
            self.left >= frame.left
            and self.right <= frame.right
            and self.top >= frame.top
            and self.bottom <= frame.bottom
        )

    def grown(self, by: float) -> "Box":
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """The point of the box that is nearest to (x, y)."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


@dataclass(frozen=True)
class Segment:
    x1: float
    y1: float
    x2: float
    y2: float

    def crosses(self, box: Box) -> bool:
        """Whether any part of it lies inside the box (Liang and Barsky's clipping)."""
        start, end = 0.0, 1.0
        for origin, delta, low, high in (
            (self.x1, self.x2 - self.x1, box.left, box.right),
            (self.y1, self.y2 - self.y1, box.top, box.bottom),
        ):
            if delta == 0:
                if not low < origin < high:
                    return False
                continue
            near, far = sorted(((low - origin) / delta, (high - origin) / delta))
            start, end = max(start, near), min(end, far)
        return start < end


@dataclass(frozen=True)
class LabelRequest:
    """What is to be labelled: a point, or with `level` the horizontal line at y."""

    x: float
    y: float
    text: str
    bold: bool = False
    level: bool = False


@dataclass(frozen=True)
class PlacedLabel:
    text: str
    box: Box
    baseline: float
    leader: Segment | None


@dataclass(frozen=True)
class Obstacles:
    """What labels must not cover (points), what they should not (lines), and where they must stay (frame)."""

    points: list[Box]
    lines: list[Box]
    frame: Box


def place(names: list[LabelRequest], around: Obstacles, size: float) -> list[PlacedLabel | None]:
    """A label for each name, in the order of importance; None where there is no room for it."""
    placed: list[PlacedLabel] = []
    labels: list[PlacedLabel | None] = []
    for name in names:
        label = _best(name, placed, around, size)
        labels.append(label)
        placed += [label] if label else []
    return labels


def _best(name: LabelRequest, placed: list[PlacedLabel], around: Obstacles, size: float) -> PlacedLabel | None:
    width = around.frame.right - around.frame.left
    text = shorten(name.text, size, (0.95 if name.level else LONGEST) * width, name.bold)
    best: tuple[float, PlacedLabel] | None = None
    for distance, box in _positions(name, text_width(text, size, name.bold), size * LINE, around.frame):
        if best and distance >= best[0]:
            break  # positions come nearest first, and covering lines only adds to the cost
        label = _label(name, text, box, size)
        cost = distance + COVERED * sum(box.covers(line) for line in around.lines) + _ambiguity(label, name, around)
        if (best is None or cost < best[0]) and _free(label, name, placed, around):
            best = cost, label
    return best[1] if best else None


def _label(name: LabelRequest, text: str, box: Box, size: float) -> PlacedLabel:
    near = box.nearest(name.x, name.y)
    far = not name.level and math.dist(near, (name.x, name.y)) > NEAR
    leader = Segment(name.x, name.y, *near) if far else None
    return PlacedLabel(text, box, box.top + ASCENT * size, leader)


def _ambiguity(label: PlacedLabel, name: LabelRequest, around: Obstacles) -> float:
    """A leader says whose name it is; without one, the nearest point must."""
    if label.leader or name.level:
        return 0.0
    own = math.dist(label.box.nearest(name.x, name.y), (name.x, name.y))
    centres = [((point.left + point.right) / 2, (point.top + point.bottom) / 2) for point in around.points]
    nearer = any(
        math.dist(label.box.nearest(*centre), centre) < own + 2 and math.dist(centre, (name.x, name.y)) > 1
        for centre in centres
    )
    return AMBIGUOUS if nearer else 0.0


def _free(label: PlacedLabel, name: LabelRequest, placed: list[PlacedLabel], around: Obstacles) -> bool:
    box = label.box
    if not box.inside(around.frame) or any(box.covers(point) for point in around.points):
        return False
    roomy = box.grown(MARGIN)
    if any(roomy.covers(other.box) or (other.leader and other.leader.crosses(roomy)) for other in placed):
        return False
    leader = label.leader
    if leader is None:
        return True
    others = [point for point in around.points if not point.covers(Box(name.x - 1, name.y - 1, name.x + 1, name.y + 1))]
    return not any(leader.crosses(other) for other in [*others, *(other.box for other in placed)])


def _positions(name: LabelRequest, width: float, height: float, frame: Box) -> Iterable[tuple[float, Box]]:
    """(distance, box) with the nearest first."""
    return _along(name.y, width, height, frame) if name.level else _round(name.x, name.y, width, height)


def _round(x: float, y: float, width: float, height: float) -> Iterable[tuple[float, Box]]:
    """Boxes around a point: to its sides first, then above and below."""
    for gap in GAPS:
        for angle in sorted(DIRECTIONS, key=lambda angle: (abs(math.sin(angle)), math.cos(angle) < 0)):
            across, down = math.cos(angle), -math.sin(angle)
            left = x + across * gap + (across - 1) / 2 * width
            top = y + down * gap + (down - 1) / 2 * height
            yield gap, Box(left, top, left + width, top + height)


def _along(y: float, width: float, height: float, frame: Box) -> Iterable[tuple[float, Box]]:
    """Boxes just above or below a line across the plot, from its right end to the left."""
    steps = int((frame.right - frame.left - width) // 8) + 1
    for step in range(max(steps, 0)):
        right = frame.right - 2 - 8 * step
        for top in (y - height - 1, y + 2):
            yield 2.0 * step, Box(right - width, top, right, top + height)
