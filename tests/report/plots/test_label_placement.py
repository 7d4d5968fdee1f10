"""Labels of plots: whatever the points, no label covers another, a point or the edge, and every point is named."""

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from niwaki.report.plots.extents import text_width
from niwaki.report.plots.label_placement import Box, LabelRequest, Obstacles, PlacedLabel, Segment, place
from niwaki.report.plots.pareto import FONT, NARROW, WIDE, Axis, Point, Size, draw

FRAME = Box(50, 14, 500, 320)
NAMES = st.one_of(
    st.text(min_size=1, max_size=40),
    st.sampled_from(["teacher", "student", "int8", "WWWWWWWWWWWWWWWWWWWW", "a-rather-long-stage-name-of-a-recipe"]),
)
SPOTS = st.tuples(st.floats(50, 500), st.floats(14, 320), NAMES)
CLUSTERED = st.tuples(st.floats(200, 230), st.floats(100, 120), NAMES)


def lay_out(spots: list[tuple[float, float, str]]) -> tuple[list[PlacedLabel | None], list[Box]]:
    points = [Box(x, y, x, y).grown(8) for x, y, _ in spots]
    bars = [Box(x - 1, y - 30, x + 1, y + 30) for x, y, _ in spots]
    names = [LabelRequest(x, y, text, bold=at == 0) for at, (x, y, text) in enumerate(spots)]
    return place(names, Obstacles(points, bars, FRAME), FONT), points


def check(labels: list[PlacedLabel], points: list[Box]) -> None:
    boxes = [label.box for label in labels]
    for at, box in enumerate(boxes):
        assert box.inside(FRAME)
        assert not any(box.covers(point) for point in points)
        assert not any(box.covers(other) for other in boxes[:at])
        leaders = [label.leader for label in labels if label.leader and label.box is not box]
        assert not any(leader.crosses(box) for leader in leaders)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(SPOTS, CLUSTERED), max_size=20))
def test_labels_of_random_points_are_apart(spots: list[tuple[float, float, str]]) -> None:
    labels, points = lay_out(spots)
    check([label for label in labels if label], points)


@given(SPOTS)
def test_a_single_point_always_has_its_name(spot: tuple[float, float, str]) -> None:
    assert lay_out([spot])[0][0] is not None


def test_a_name_that_is_far_from_its_point_has_a_leader() -> None:
    spots = [(200.0 + 3 * at, 150.0, f"stage {at}") for at in range(8)]
    labels, _ = lay_out(spots)
    for label, (x, y, _) in zip(labels, spots, strict=True):
        assert label is not None
        assert (math.dist(label.box.nearest(x, y), (x, y)) > 14) == (label.leader is not None)


@pytest.mark.parametrize(
    ("segment", "crosses"),
    [
        (Segment(0, 0, 100, 100), True),
        (Segment(0, 0, 30, 30), False),
        (Segment(50, 0, 50, 100), True),
        (Segment(45, 45, 46, 46), True),
        (Segment(0, 30, 100, 30), False),
        (Segment(0, 70, 70, 0), False),
    ],
)
def test_segments_by_hand(segment: Segment, crosses: bool) -> None:
    assert segment.crosses(Box(40, 40, 60, 60)) is crosses


def texts(drawn: str) -> list[tuple[str, Box]]:
    """The text elements of a plot with the most room that each can take."""
    found = []
    for text in ElementTree.fromstring(drawn).iter("text"):
        words, anchor = text.text or "", text.get("text-anchor")
        width = text_width(words, FONT, "chosen" in (text.get("class") or ""))
        left = float(text.get("x", 0)) - {"start": 0, "middle": width / 2, "end": width}[anchor or "start"]
        bottom = float(text.get("y", 0)) + 0.28 * FONT
        found.append((words, Box(left, bottom - 1.25 * FONT, left + width, bottom)))
    return found


COSTS = st.one_of(st.floats(1e-3, 1e6), st.floats(9.0, 10.0))
SCORES = st.one_of(st.floats(0.0, 1.0), st.floats(0.80, 0.83))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(COSTS, SCORES), min_size=1, max_size=16),
    st.sampled_from([WIDE, NARROW]),
    st.one_of(st.none(), st.tuples(st.just("TF-IDF + linear SVM"), SCORES)),
    st.sampled_from(["stage {}", "a-rather-long-stage-name-for-distilling-{}-layers"]),
)
def test_no_text_of_a_random_plot_overlaps_or_leaves_it(
    values: list[tuple[float, float]], size: Size, level: tuple[str, float] | None, names: str
) -> None:
    points = [
        Point(names.format(at), x, y, "chosen" if at == 0 else "stage", "", (x * 0.7, x * 1.4), (y - 0.02, y + 0.02))
        for at, (x, y) in enumerate(values)
    ]
    drawing = draw(
        points,
        Axis("energy", lambda value: f"{value:g} J"),
        Axis("accuracy", lambda v: f"{100 * v:.3g} %"),
        level,
        size,
    )
    found = texts(drawing.svg)
    whole = Box(0, 0, size.width, size.height)
    for at, (words, box) in enumerate(found):
        assert box.inside(whole), words
        assert not any(box.covers(other) > 0.01 for _, other in found[:at]), words
    labels = re.findall(r'class="name [^>]*>([^<]*)<', drawing.svg)
    assert len(set(labels)) == len(labels), "no two points look alike"
    if drawing.key:
        assert [name for _, name in drawing.key] == [point.name for point in points]
    else:
        assert len(labels) == len(points)


def test_names_that_look_alike_when_cut_become_numbers() -> None:
    points = [Point(f"{'long-' * 12}{at}", 10.0**at, 0.8, "stage", "") for at in range(3)]
    drawing = draw(points, Axis("cost", str), Axis("score", str), None)
    assert [number for number, _ in drawing.key] == ["1", "2", "3"]
    assert set(re.findall(r'class="name stage"[^>]*>([^<]*)<', drawing.svg)) == {"1", "2", "3"}
