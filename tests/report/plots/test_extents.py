"""Widths of texts."""

from niwaki.report.plots.extents import shorten, text_width


def test_estimated_widths_are_upper_bounds() -> None:
    assert text_width("iii", 12) < text_width("nnn", 12) < text_width("mmm", 12) < text_width("漢漢漢", 12)
    assert text_width("n", 12, bold=True) > text_width("n", 12)
    assert shorten("short", 12, 100) == "short"
    cut = shorten("a name that is much too long", 12, 100)
    assert cut.endswith("…") and text_width(cut, 12) <= 100
