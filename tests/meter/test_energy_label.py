"""The energy label: absolute thresholds, a range of letters, a picture that is safe to embed."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from niwaki.core.errors import UsageError
from niwaki.meter import Reading
from niwaki.meter.energy_label import COLOURS, LETTERS, THRESHOLDS, energy_label, letter_of, per_1000


@pytest.mark.parametrize(
    ("joules", "letter"),
    [(0.005, "A"), (0.01, "A"), (0.011, "B"), (0.5, "C"), (10, "D"), (10.1, "E"), (500, "F"), (1e6, "G")],
)
def test_letters(joules: float, letter: str) -> None:
    assert energy_label(joules).letter == energy_label(joules).letters == letter


def test_a_range_that_spans_two_shows_both() -> None:
    assert energy_label(8, 8 / 3, 24).letters == "D–E" and energy_label(8, 8 / 3, 24).letter == "D"
    assert energy_label(3, 2, 9).letters == "D"


@given(st.floats(1e-6, 1e9))
def test_a_band_of_three_never_spans_more_than_two(joules: float) -> None:
    letters = energy_label(joules, joules / 3, joules * 3).letters
    assert ord(letters[-1]) - ord(letters[0]) <= 1


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_more_joules_never_earn_a_better_letter(one: float, other: float) -> None:
    assert letter_of(min(one, other)) <= letter_of(max(one, other))


def test_from_a_reading() -> None:
    assert energy_label(*per_1000(Reading(1, 1, 4.0, 4 / 3, 12.0), 500)).letters == "D–E"  # 8 J, 2.7 to 24
    assert energy_label(*per_1000(Reading(1, 1), 500)).letters == "?"
    with pytest.raises(UsageError, match="1 or more"):
        per_1000(Reading(1, 1, 4.0), 0)


def test_unknown_energy_has_no_letter() -> None:
    unknown = energy_label(None, name="m")
    assert unknown.letters == "?" and "not known" in unknown.svg()
    ElementTree.fromstring(unknown.svg())


@pytest.mark.parametrize("figures", [(5, 6, 7), (5, 1, 4), (-1, -2, 3), (float("nan"), 1, 2)])
def test_an_invalid_range_is_rejected(figures: tuple[float, float, float]) -> None:
    with pytest.raises(UsageError, match="range"):
        energy_label(*figures)


def test_the_picture_is_well_formed_escaped_and_in_one_piece() -> None:
    evil = '<script>alert("x")</script>&'
    svg = energy_label(8, 3, 24, name=evil, task=evil, quality=evil).svg()
    root = ElementTree.fromstring(svg)
    assert "<script" not in svg and "href" not in svg and svg.count("http") == 1  # only the SVG namespace
    texts = [element.text for element in root.iter() if element.text]
    assert evil in texts and [text for text in texts if text in THRESHOLDS].count("D") == 2  # bar and mark
    assert {"8.0 J per 1,000 inferences", "between 3.0 and 24 J"} <= set(texts)


def contrast(one: str, other: str) -> float:
    """WCAG 2's contrast ratio of two colours."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_every_text_of_the_picture_can_be_read() -> None:
    root = ElementTree.fromstring(energy_label(8, 3, 24, name="n" * 60, task="word " * 40, quality="q" * 90).svg())
    texts = [element for element in root.iter() if element.tag.endswith("text")]
    assert min(float(text.get("font-size", "0")) for text in texts) >= 12
    assert max(float(text.get("y", "0")) for text in texts) <= float(root.get("height", "0")) - 8
    assert all(len(text.text or "") <= 30 for text in texts), "no line is longer than the label is wide"
    assert all(contrast(bar, letter) >= 4.5 for bar, letter in zip(COLOURS, LETTERS, strict=True))


def test_a_label_without_quality_says_so() -> None:
    assert (
        "quality not stated" in energy_label(8).svg()
        and "accuracy 0.87" in energy_label(8, quality="accuracy 0.87").svg()
    )
