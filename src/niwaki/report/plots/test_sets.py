"""Scores on several test sets: a row for each set, a dot for each stage, joined by a line."""

from collections.abc import Callable, Mapping

from markupsafe import Markup

from niwaki.report.plots import svg
from niwaki.report.plots.axes import around

WIDTH, LEFT, RIGHT, ROW, TOP, BOTTOM = 620.0, 120.0, 20.0, 20.0, 28.0, 40.0
KINDS = ("reference", "chosen")  # looks of the dots of the first stage and of the second
Scores = Mapping[str, float | None]


def draw(rows: Mapping[str, Scores], metric: str, write: Callable[[float], str]) -> Markup:
    """`rows`: test set → stage → score, with the same one or two stages in each row."""
    known = [score for scores in rows.values() for score in scores.values() if score is not None]
    height = TOP + ROW * len(rows) + BOTTOM
    x = around(known, LEFT, WIDTH - RIGHT)
    stages = list(next(iter(rows.values())))
    parts = [svg.line(x(tick), TOP, x(tick), height - BOTTOM, "grid") for tick in x.ticks()]
    parts += [svg.text(x(tick), height - BOTTOM + 16, write(tick), "tick", "middle") for tick in x.ticks()]
    parts.append(svg.text((LEFT + WIDTH - RIGHT) / 2, height - 6, metric, "axis", "middle"))
    parts += [
        part
        for at, (name, scores) in enumerate(rows.items())
        for part in _row(name, scores, TOP + ROW * (at + 0.5), x, write)
    ]
    parts += [part for at, name in enumerate(stages) for part in _key(name, LEFT + at * (WIDTH - LEFT) / 2, KINDS[at])]
    return svg.figure(WIDTH, height, f"{metric} by test set", f"Of {' and '.join(stages)}", *parts)


def _row(
    name: str, scores: Scores, y: float, x: Callable[[float], float], write: Callable[[float], str]
) -> list[Markup]:
    known = {stage: score for stage, score in scores.items() if score is not None}
    ends = [x(score) for score in known.values()]
    tip = f"{name}: " + ", ".join(f"{stage} {write(score)}" for stage, score in known.items())
    dots = [
        _dot(x(score), y, kind, tip) for kind, score in zip(KINDS, scores.values(), strict=False) if score is not None
    ]
    joined = [svg.line(min(ends), y, max(ends), y, "joint")] if ends else []
    return [svg.text(LEFT - 10, y + 4, name, "tick", "end"), *joined, *dots]


def _key(name: str, at: float, kind: str) -> list[Markup]:
    return [_dot(at, 10.0, kind, name), svg.text(at + 10, 14, name, "tick")]


def _dot(x: float, y: float, kind: str, tip: str) -> Markup:
    circle = svg.tag("circle", svg.tag("title", tip), cx=x, cy=y, r=4.5, class_="mark")
    return svg.tag("g", circle, class_=f"point {kind}")
