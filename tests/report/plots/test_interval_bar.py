"""Bars of intervals: in order, and cut at the edge."""

import re

from niwaki.report.plots import interval_bar


def places(drawn):
    return [float(at) for at in re.findall(r'(?:x1|x2|cx)="([\d.]+)"', drawn)]


def test_bar_shows_zero_interval_and_value():
    zero, _, low, high, value = places(interval_bar.draw(0.05, -0.02, 0.4, 0.1))
    assert zero == interval_bar.WIDTH / 2 and low < zero < value < high == interval_bar.WIDTH - 6
