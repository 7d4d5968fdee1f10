"""One stage's training: the loss as a line, the validation score as points on its own axis."""

from collections.abc import Callable

from markupsafe import Markup

from niwaki.report.plots import svg
from niwaki.report.plots.axes import Scale, around, side_by_side
from niwaki.report.plots.extents import shorten, text_width

WIDTH, HEIGHT, FONT = 320.0, 230.0, 12.0
TOP, BOTTOM = 28.0, 42.0
Pairs = list[list[float]]
Format = Callable[[float], str]


def draw(name: str, loss: Pairs, validation: Pairs, metric: str, write: Format) -> Markup:
    """Loss on the left axis, validation score on the right; either may be empty, not both."""
    losses = around([0.0, *(pair[1] for pair in loss)], HEIGHT - BOTTOM, TOP, margin=0.02, least=1e-6)
    scores = around([pair[1] for pair in validation] or [0.0], HEIGHT - BOTTOM - 12, TOP + 10, margin=0.1, least=0.005)
    steps = [pair[0] for pair in loss + validation]
    start, end = _room(losses, _loss_mark), WIDTH - _room(scores, write)
    x = Scale(min(steps), max(max(steps), min(steps) + 1), start, end)
    last = f"Last validation {metric}: {write(validation[-1][1])}." if validation else "No validation score."
    return svg.figure(
        WIDTH,
        HEIGHT,
        f"Training of {name}",
        last,
        *[svg.text(x(tick), HEIGHT - BOTTOM + 17, _step(tick), "tick", "middle") for tick in _whole(x)],
        svg.text((start + end) / 2, HEIGHT - 6, "training step", "axis", "middle"),
        *(_loss(loss, x, losses) if loss else []),
        *(_validation(validation, x, scores, metric, write) if validation else []),
    )


def _room(y: Scale, write: Format) -> float:
    """The width of the widest tick label of an axis."""
    return max((text_width(write(tick), FONT) for tick in y.ticks()), default=0.0) + 10


def _loss_mark(value: float) -> str:
    return f"{value:.3g}"


def _step(tick: float) -> str:
    return f"{tick:,.0f}"


def _whole(x: Scale) -> list[float]:
    """Ticks at whole steps only."""
    apart = side_by_side(x, _step, FONT, WIDTH)
    return x.ticks(lambda ticks: apart(ticks) and all(tick % 1 == 0 for tick in ticks))


def _loss(pairs: Pairs, x: Scale, y: Scale) -> list[Markup]:
    grid = [svg.line(x.start, y(tick), x.end, y(tick), "grid") for tick in y.ticks()]
    ticks = [svg.text(x.start - 7, y(tick) + 4, _loss_mark(tick), "tick", "end") for tick in y.ticks()]
    return [
        *grid,
        *ticks,
        svg.text(2, 14, "loss", "axis loss-name"),
        svg.path([(x(step), y(value)) for step, value in pairs], "loss"),
    ]


def _validation(pairs: Pairs, x: Scale, y: Scale, metric: str, write: Format) -> list[Markup]:
    ticks = [svg.text(x.end + 7, y(tick) + 4, write(tick), "tick") for tick in y.ticks()]
    title = shorten(f"validation {metric}", FONT, WIDTH - 4 - text_width("loss  ", FONT))
    best = max(pairs, key=lambda pair: pair[1])
    return [
        *ticks,
        svg.text(WIDTH - 2, 14, title, "axis score-name", "end"),
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
