"""Names beside points, moved so that they do not cover each other."""

from dataclasses import dataclass

CHARACTER, LINE = 6.6, 14.0  # a character's mean width and a line's height at the plot's font size
LONGEST = 24  # characters of a name that are shown; the whole name is in the point's own description


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

    def outside(self, frame: "Box") -> float:
        return (self.right - self.left) * (self.bottom - self.top) - self.covers(frame)


@dataclass(frozen=True)
class Label:
    x: float
    y: float
    text: str
    box: Box


def shorten(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def place(points: list[tuple[float, float, str]], marks: list[Box], lines: list[Box], frame: Box) -> list[Label]:
    """One label per (x, y, name): of eight places around the point, the one that covers least; marks weigh more."""
    labels: list[Label] = []
    solid = list(marks)
    for x, y, name in points:
        choices = [_label(x + dx, y + dy, side, shorten(name)) for dx, dy, side in PLACES]
        best = min(range(len(PLACES)), key=lambda at: FARTHER * at + _cost(choices[at].box, solid, lines, frame))
        labels.append(choices[best])
        solid.append(choices[best].box)
    return labels


def _cost(box: Box, solid: list[Box], lines: list[Box], frame: Box) -> float:
    covered = 4 * sum(box.covers(other) for other in solid) + sum(box.covers(other) for other in lines)
    return covered + 8 * box.outside(frame)


FARTHER = 12.0  # what each later place costs, in covered area
# offsets of the baseline's start or end from the point; side 0 begins there, side 1 ends there
PLACES = [(9, -7, 0), (-9, -7, 1), (9, 20, 0), (-9, 20, 1), (9, -22, 0), (-9, -22, 1), (9, 35, 0), (-9, 35, 1)]


def _label(x: float, y: float, side: int, text: str) -> Label:
    left = x - side * CHARACTER * len(text)
    return Label(left, y, text, Box(left, y - LINE + 3, left + CHARACTER * len(text), y + 3))
