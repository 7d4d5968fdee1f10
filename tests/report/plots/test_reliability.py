"""Reliability diagrams: points where they belong, and figures for those who do not see them."""

import re

from niwaki.report.plots import reliability


def test_points_lie_at_confidence_and_share():
    bins = [{"confidence": 0.5, "right": 0.25, "rows": 10}, {"confidence": 1.0, "right": 1.0, "rows": 10}]
    drawn = reliability.draw("<model>", bins, bins[:1])
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert len(circles) == 3 and float(circles[1][0]) == reliability.WIDTH - reliability.RIGHT
    assert float(circles[1][1]) == reliability.TOP and float(circles[0][0]) < float(circles[1][0])
    assert "&lt;model&gt;" in drawn and "right 25.0 % of 10 rows" in drawn and 'tabindex="0"' in drawn
