"""Throughput as bars, one group for each stream of texts: a drawing of its own, to be put anywhere."""

from collections.abc import Mapping

from markupsafe import Markup

from niwaki.report.plots import svg

WIDTH, LEFT, RIGHT, BAR, GAP, HEAD = 760.0, 250.0, 120.0, 18.0, 26.0, 24.0
LOOKS = "text{font:12px sans-serif;fill:#333}.head{font-weight:bold}.bar{fill:#4a7c59}.whisker{stroke:#222;stroke-width:1.5}"


def bar_chart(streams: Mapping[str, Mapping[str, tuple[float, float, float]]], unit: str) -> Markup:
    """Of each stream and contender the value, and the low and high end of its interval."""
    parts: list[Markup] = []
    at = HEAD
    for stream, values in streams.items():
        most = max(high for _, _, high in values.values()) or 1.0

        def x(value: float, most: float = most) -> float:
            return LEFT + value / most * (WIDTH - LEFT - RIGHT)

        parts.append(svg.text(8.0, at, stream, "head"))
        for label, (value, low, high) in values.items():
            at += BAR + 6
            middle = at - BAR / 2
            parts += [
                svg.text(LEFT - 8, at - 5, label, "label", "end"),
                svg.tag("rect", x=LEFT, y=at - BAR, width=max(x(value) - LEFT, 0.5), height=BAR, class_="bar"),
                svg.line(x(low), middle, x(high), middle, "whisker"),
                svg.text(max(x(high), x(value)) + 8, at - 5, f"{value:,.0f} {unit}", "value"),
            ]
        at += GAP
    drawn = svg.figure(WIDTH, at, "throughput", f"{unit} of each model and engine", svg.tag("style", LOOKS), *parts)
    return Markup(
        str(drawn).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    )  # in a file of its own it must say so
