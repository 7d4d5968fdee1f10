"""Noise by name: special tokens stay around texts on both sides."""

import numpy as np
import pytest

from niwaki.tokenization.noise import NOISES, Noise
from niwaki.tokenization.text_noise import TEXT_NOISES

from .noise import KNOWN, draws


@pytest.mark.parametrize("name", NOISES)
def test_special_tokens_stay_around_what_is_read_and_generated(name):
    for draw, body in draws(40):
        ids = np.concatenate([[1], body, [2]])
        read, generated = Noise(name, 0.3, 3.0).corrupt(ids, KNOWN, draw)
        for one in (read, generated):
            assert (one[0], one[-1]) == (1, 2)
        if name in TEXT_NOISES:
            assert generated.tolist() == ids.tolist()


@pytest.mark.parametrize("name", NOISES)
def test_noise_follows_from_the_draw_alone(name):
    ids = np.concatenate([[1], np.arange(60) % 50, [2]])
    first, second, other = (Noise(name, 0.3, 3.0).corrupt(ids, KNOWN, np.random.default_rng(n))[0] for n in (4, 4, 5))
    assert first.tolist() == second.tolist()
    assert name == "permute" or first.tolist() != other.tolist()


def test_texts_are_left_as_they_were():
    ids = np.concatenate([[1], np.arange(30), [2]])
    before = ids.copy()
    for name in NOISES:
        Noise(name, 0.5, 2.0).corrupt(ids, KNOWN, np.random.default_rng(0))
        assert np.array_equal(ids, before)
