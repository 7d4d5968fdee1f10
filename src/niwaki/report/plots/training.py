"""One stage's training: the loss as a line, the validation score as points on its own axis."""

from collections.abc import Callable

from markupsafe import Markup

from niwaki.report.plots import svg
from niwaki.report.plots.axes import Scale, around

WIDTH, HEIGHT = 460.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 52.0, 26.0, 40.0
Pairs = list[list[float]]


def draw(name: str, loss: Pairs, validation: Pairs, metric: str, write: Callable[[float], str]) -> Markup:
    """Loss on the left axis, validation score on the right; either may be empty, not both."""
    steps = [pair[0] for pair in loss + validation]
    x = Scale(min(steps), max(max(steps), min(steps) + 1), LEFT, WIDTH - RIGHT)
    last = f"Last validation {metric}: {write(validation[-1][1])}." if validation else "No validation score."
    marks = [
        svg.text(x(mark), HEIGHT - BOTTOM + 16, f"{mark:,.0f}", "tick", "middle") for mark in x.ticks() if mark % 1 == 0
    ]
    return svg.figure(
        WIDTH,
        HEIGHT,
        f"Training of {name}",
        last,
        *marks,
        svg.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 7, "step", "axis", "middle"),
        *_loss(loss, x),
        *_validation(validation, x, metric, write),
    )


def _loss(pairs: Pairs, x: Scale) -> list[Markup]:
    if not pairs:
        return []
    y = around([0.0, *(pair[1] for pair in pairs)], HEIGHT - BOTTOM, TOP, margin=0.02, least=1e-6)
    grid = [svg.line(LEFT, y(mark), WIDTH - RIGHT, y(mark), "grid") for mark in y.ticks()]
    marks = [svg.text(LEFT - 7, y(mark) + 4, f"{mark:g}", "tick", "end") for mark in y.ticks()]
    return [
        *grid,
        *marks,
        svg.text(LEFT, 14, "loss", "axis loss-name"),
        svg.path([(x(step), y(value)) for step, value in pairs], "loss"),
    ]


def _validation(pairs: Pairs, x: Scale, metric: str, write: Callable[[float], str]) -> list[Markup]:
    if not pairs:
        return []
    y = around([pair[1] for pair in pairs], HEIGHT - BOTTOM - 12, TOP + 10, margin=0.1, least=0.005)
    marks = [svg.text(WIDTH - RIGHT + 7, y(mark) + 4, write(mark), "tick") for mark in y.ticks()]
    best = max(pairs, key=lambda pair: pair[1])
    return [
        *marks,
        svg.text(WIDTH - 2, 14, f"validation {metric}", "axis score-name", "end"),
        svg.path([(x(step), y(value)) for step, value in pairs], "score"),
        *[_score(x(step), y(value), f"step {step:,.0f}: {write(value)}", value == best[1]) for step, value in pairs],
    ]


def _score(at_x: float, at_y: float, tip: str, best: bool) -> Markup:
    return svg.tag(
        "g",
        svg.tag("title", tip),
        svg.tag("circle", cx=at_x, cy=at_y, r=10, class_="reach"),
        svg.tag("circle", cx=at_x, cy=at_y, r=4.5 if best else 3, class_="mark"),
        class_="point value",
        tabindex="0",
        role="img",
        aria_label=tip,
    )
