"""Captions of drawings."""

import random

import numpy as np
import pytest

from niwaki.data.image_bytes import EncodedImage, encode_array
from niwaki.data.problems._problem import problem_of
from niwaki.data.problems.shape_captions import BACKGROUND, COLORS, KINDS, mask, seen

RED, WHITE = COLORS["red"], COLORS["white"]


def picture(*boxes: tuple[tuple[int, int, int], slice, slice]) -> np.ndarray:
    pixels = np.tile(np.array(BACKGROUND, dtype=np.uint8), (32, 32, 1))
    for color, rows, columns in boxes:
        pixels[rows, columns] = color
    return pixels


def test_masks_by_hand():
    """Triangle: a row of 4 pixels is covered from its middle on, by 1/8, 3/8, 5/8 and 7/8 of its width. Circle: corners are outside."""
    drawn = {kind: ["".join(".#"[int(one)] for one in row) for row in mask(kind, 4, 4)] for kind in KINDS}
    assert drawn["square"] == ["####"] * 4
    assert drawn["triangle"] == [".##.", ".##.", "####", "####"]
    assert drawn["circle"] == [".##.", "####", "####", ".##."]


@pytest.mark.parametrize(
    ("candidate", "right"),
    [
        ("small red square top left and large white square bottom right", True),
        ("large white square bottom right and small red square top left", True),  # in any order
        ("small red square top left", False),
        ("small red square top left and large white square bottom right and small blue circle top right", False),
        ("small red square top left and small red square top left", False),
        ("large red square top left and large white square bottom right", False),
        ("small red circle top left and large white square bottom right", False),
        ("small red square top right and large white square bottom right", False),
        ("small green square top left and large white square bottom right", False),
        ("and", False),
        ("square", False),
    ],
)
def test_a_caption_is_right_if_it_names_what_is_drawn(candidate, right):
    pixels = picture((RED, slice(3, 10), slice(4, 11)), (WHITE, slice(18, 30), slice(17, 29)))
    assert problem_of("shape_captions").verify(encode_array(pixels), candidate) == right


def test_an_empty_drawing_has_no_shapes():
    assert seen(picture()) == []
    assert seen(picture((RED, slice(3, 5), slice(4, 8)))) == [], "eight pixels are noise"


@pytest.mark.parametrize("question", ["a text", EncodedImage(b"no image"), encode_array(np.zeros((8, 8), np.uint8))])
def test_what_is_no_drawing_has_no_answer(question):
    assert not problem_of("shape_captions").verify(question, "small red square top left")


def test_every_word_matters():
    """No caption of a drawing is right with another word in the place of one of its words."""
    problem, draw = problem_of("shape_captions"), random.Random(0)
    others = ["small", "large", *COLORS, *KINDS, "top", "bottom", "left", "right", "and"]
    for index in range(60):
        question, answer = problem.pair(7, index)
        words = answer.split()
        place = draw.randrange(len(words))
        words[place] = draw.choice([word for word in others if word != words[place]])
        assert problem.verify(question, answer) and not problem.verify(question, " ".join(words)), (answer, words)
