"""The letter as one line, and as a picture."""

from meter.label_formats.sample import SAMPLE
from niwaki.meter.label_formats._format import render


def test_line_contains_class_value_range_and_quality():
    fields, text = render("letter", SAMPLE)
    assert fields["classes"] == "E–F" and fields["class"] == "E"  # 36 J, between 12 and 108
    expected = (
        "demo-int8: class E–F, 36 J per 1,000 inferences, between 12 and 110 J, estimated; accuracy 90 %; Example CPU"
    )
    assert text == expected
