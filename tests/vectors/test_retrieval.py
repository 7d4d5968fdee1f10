"""Neighbours by cosine and by CSLS, next to the definition written out."""

import numpy as np
import pytest

from niwaki.vectors import retrieval
from niwaki.vectors.normalization import unit
from niwaki.vectors.retrieval import densities, density, nearest


@pytest.fixture
def sides():
    draw = np.random.default_rng(1)
    return unit(draw.normal(size=(40, 5)).astype(np.float32)), unit(draw.normal(size=(30, 5)).astype(np.float32))


@pytest.mark.parametrize("block", [7, 1024])
@pytest.mark.parametrize("csls", [False, True])
def test_neighbours_equal_the_definition(sides, block, csls, monkeypatch):
    monkeypatch.setattr(retrieval, "BLOCK", block)
    source, target = sides
    cosines = source @ target.T
    scores = cosines
    if csls:
        near = [np.sort(side, axis=1)[:, -10:].mean(axis=1) for side in (cosines, cosines.T)]
        scores = 2 * cosines - near[0][:, None] - near[1][None]
    wanted = np.argsort(-scores, axis=1)[:, :4]
    assert np.array_equal(nearest(source, target, 4, densities(source, target) if csls else None), wanted)


def test_csls_ranks_a_word_lower_that_is_near_to_everything():
    """Targets 0 to 9 lie close to many sources; target 10 is only near to source 0. By hand: hubs have a large r."""
    source = unit(np.array([[1.0, 0.30], *[[1.0, 0.02 * n] for n in range(10)]], dtype=np.float32))
    target = unit(np.array([[1.0, 0.22], [0.6, 0.8]], dtype=np.float32))
    assert nearest(source[:1], target, 1)[0, 0] == 0
    r = density(target, source)
    assert r[0] > r[1] + 0.2
    far = np.array([[0.8, 0.6]], dtype=np.float32)  # nearly as near to both
    assert nearest(far, target, 1, (np.zeros(1), r))[0, 0] == 1


def test_more_neighbours_than_words_are_all_words(sides):
    assert nearest(*sides, 99).shape == (40, 30)
