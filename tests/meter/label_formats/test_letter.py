"""The letter as one line, and as a picture."""

from niwaki.meter.label_formats._format import FORMATS, render

from .sample import SAMPLE


def test_a_line_names_class_figure_range_and_quality():
    fields, text = render("letter", SAMPLE)
    assert fields["classes"] == "E–F" and fields["class"] == "E"  # 36 J, between 12 and 108
    expected = (
        "demo-int8: class E–F, 36 J per 1,000 inferences, between 12 and 110 J, estimated; accuracy 90 %; Example CPU"
    )
    assert text == expected


def test_a_picture_is_an_svg():
    assert render("svg", SAMPLE)[1].startswith("<svg ")


def test_the_folder_is_the_list_of_formats():
    assert set(FORMATS.names()) == {"letter", "svg", "codecarbon", "hf", "aies", "sci"}
