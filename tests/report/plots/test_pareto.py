"""The plot of quality against cost."""

import re

from niwaki.report.plots.pareto import Axis, Point, draw, front


def point(name: str, x: float, y: float) -> Point:
    return Point(name, x, y, "stage", name)


def test_front_contains_the_points_that_none_dominates() -> None:
    points = [point("dear", 9, 0.9), point("cheap", 1, 0.7), point("beaten", 5, 0.6), point("middle", 4, 0.8)]
    assert [p.name for p in front(points)] == ["cheap", "middle", "dear"]
    assert [p.name for p in front([point("a", 1, 0.5), point("same cost, better", 1, 0.6)])] == ["same cost, better"]


def test_single_point_without_ranges_is_drawn() -> None:
    drawing = draw([point("only", 3.0, 0.8)], Axis("cost", str), Axis("score", str), ("base", 0.7)).svg
    assert not re.search(r"nan|inf", drawing)
    assert drawing.count("<circle") == 2
