"""The energy class as a picture."""

from meter.label_formats.sample import SAMPLE
from niwaki.meter.label_formats._format import render


def test_label_is_an_svg_picture():
    assert render("svg", SAMPLE)[1].startswith("<svg ")
