"""A difference with its interval as a small bar without text, for a cell of a table."""

from markupsafe import Markup

from niwaki.report.plots import svg
from niwaki.report.plots.axes import Scale

WIDTH, HEIGHT = 150.0, 16.0


def draw(value: float, low: float, high: float, most: float) -> Markup:
    """`most` is the largest distance from 0 in the table; what lies beyond is cut."""
    x = Scale(-most, most, 6, WIDTH - 6)
    places = [x(min(most, max(-most, end))) for end in (low, value, high)]
    middle = HEIGHT / 2
    return svg.tag(
        "svg",
        svg.line(x(0), 1, x(0), HEIGHT - 1, "level"),
        svg.line(places[0], middle, places[2], middle, "reach-line"),
        svg.tag("circle", cx=places[1], cy=middle, r=3.5, class_="reach-dot"),
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        class_="interval",
        aria_hidden="true",
    )
