"""Axes and their scales."""

import pytest

from niwaki.report.plots.axes import Scale, around, around_log, side_by_side


def test_scales_cover_their_values() -> None:
    assert Scale(0, 10, 100, 200)(5) == 150
    assert Scale(1, 100, 0, 200, log=True)(10) == pytest.approx(100)
    assert Scale(1, 100, 0, 1, log=True).ticks() == [1, 2, 5, 10, 20, 50, 100]
    assert around([0.8, 0.8], 0, 1).ticks()
    for values in ([3.0], [1.0, 1.2], [1e-3, 1e9], [1e-12, 1e25]):
        scale = around_log(values, 0, 1)
        assert 0 < len(scale.ticks()) <= 8
        assert all(0 < scale(value) < 1 for value in values)


def test_tick_labels_do_not_overlap() -> None:
    scale = Scale(1, 100, 0, 120, log=True)
    assert scale.ticks(side_by_side(scale, lambda value: f"{value:g} ms", 12, 200)) == [1, 10, 100]
    assert scale.ticks(lambda points: False) == []
