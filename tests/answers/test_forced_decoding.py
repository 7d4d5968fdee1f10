"""Scores of given texts: by hand, and the search where none are given."""

import numpy as np

from niwaki.answers._beam_search import NO_TOKEN, SearchSettings
from niwaki.answers._forced_decoding import generate_or_score, log_likelihoods

TABLE = np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]]))


def steps(seen):
    """A model whose next token depends on the last one alone."""

    def step(tokens, parents, texts):
        assert not parents.any() and texts.tolist() == list(range(len(tokens)))
        seen.append(tokens[:, 0].tolist())
        return TABLE[tokens]

    return step


def test_likelihoods_by_hand():
    seen: list[list[int]] = []
    found = log_likelihoods(steps(seen), np.array([[1, 0, 3], [2, NO_TOKEN, NO_TOKEN]]), start=3)
    np.testing.assert_allclose(np.exp(found[:, 0]), [0.1 * 0.4 * 0.4, 0.1], rtol=1e-6)
    assert [row[0] for row in seen] == [3, 1, 0] and found.shape == (2, 1)


def test_texts_are_searched_for_unless_they_are_given():
    how = SearchSettings(max_new_tokens=2, start=3, end=1, suppress_tokens=())
    ids = np.zeros((1, 4), dtype=np.int64)
    found = generate_or_score(lambda tokens, *_: TABLE[tokens], {"input_ids": ids}, how)
    assert found[0, 1:].tolist() == [0, 3]
    scored = generate_or_score(lambda tokens, *_: TABLE[tokens], {"input_ids": ids, "labels": np.array([[0, 3]])}, how)
    np.testing.assert_allclose(scored[0, 0], found[0, 0], rtol=1e-6)
