"""Formats of labels."""

from niwaki.meter.label_formats._format import FORMATS


def test_every_file_of_the_folder_is_a_format():
    assert set(FORMATS.names()) == {"letter", "svg", "codecarbon", "hf", "aies", "sci"}
