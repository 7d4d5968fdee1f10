"""Scales, fronts and labels of the plots, by hand."""

import re

import pytest

from niwaki.report.curves import curve, thin
from niwaki.report.plots import svg
from niwaki.report.plots.axes import Scale, around, around_log
from niwaki.report.plots.pareto import Axis, Point, draw, front


def point(name: str, x: float, y: float) -> Point:
    return Point(name, x, y, "stage", name)


def test_front_is_what_nothing_beats() -> None:
    points = [point("dear", 9, 0.9), point("cheap", 1, 0.7), point("beaten", 5, 0.6), point("middle", 4, 0.8)]
    assert [p.name for p in front(points)] == ["cheap", "middle", "dear"]
    assert [p.name for p in front([point("a", 1, 0.5), point("same cost, better", 1, 0.6)])] == ["same cost, better"]


def test_scales() -> None:
    assert Scale(0, 10, 100, 200)(5) == 150
    assert Scale(1, 100, 0, 200, log=True)(10) == pytest.approx(100)
    assert Scale(1, 100, 0, 1, log=True).ticks() == [1, 2, 5, 10, 20, 50, 100]
    assert around([0.8, 0.8], 0, 1).ticks()
    for values in ([3.0], [1.0, 1.2], [1e-3, 1e9], [1e-12, 1e25]):
        scale = around_log(values, 0, 1)
        assert 0 < len(scale.ticks()) <= 8
        assert all(0 < scale(value) < 1 for value in values)


def test_svg_escapes() -> None:
    drawing = svg.tag("text", "<b>&", class_='"x', data_tip="'")
    assert str(drawing) == '<text class="&#34;x" data-tip="&#39;">&lt;b&gt;&amp;</text>'


def test_a_plot_of_one_point_without_ranges() -> None:
    drawing = draw([point("only", 3.0, 0.8)], Axis("cost", str), Axis("score", str), ("base", 0.7)).svg
    assert not re.search(r"nan|inf", drawing)
    assert drawing.count("<circle") == 2


def test_curves_are_thinned_and_repeated_steps_count_once() -> None:
    lines = [{"kind": "step", "step": s, "loss": 1.0} for s in (1, 2, 2, 3)] + [
        {"kind": "step", "step": 3, "loss": 5.0}
    ]
    assert curve([*lines, {"kind": "step", "loss": None}])["loss"] == [[1, 1.0], [2, 1.0], [3, 5.0]]
    assert thin([[0, 1], [1, 3], [2, 5]], points=2) == [[0.5, 2], [2, 5]]
    assert len(thin([[s, 0] for s in range(10_000)])) <= 160


def test_bars_are_a_drawing_of_their_own_with_every_name_escaped():
    from xml.etree import ElementTree

    from niwaki.report.plots.bar_chart import bar_chart

    drawn = ElementTree.fromstring(
        str(bar_chart({"<mixed>": {"a & b": (100.0, 90.0, 110.0), "c": (50.0, 0.0, 60.0)}}, "texts/s"))
    )
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<mixed>", "a & b", "c", "100 texts/s"} <= set(texts)
    long, short = (float(one.get("width")) for one in drawn.iter("{http://www.w3.org/2000/svg}rect"))
    assert long == pytest.approx(2 * short, rel=0.02)
