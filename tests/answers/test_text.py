"""How sure a model is of a text that it wrote, worked by hand."""

import math

import numpy as np

from niwaki.answers._beam_search import IMPOSSIBLE, NO_TOKEN
from niwaki.answers.text import Text


def written(*texts, max_new_tokens=4):
    found = np.full((len(texts), 1 + max_new_tokens), NO_TOKEN, dtype=np.float32)
    for row, (share, tokens) in zip(found, texts, strict=True):
        row[: 1 + len(tokens)] = [share, *tokens]
    return found


def test_how_sure_is_the_chance_by_the_root_of_the_length():
    """Two tokens and the end are three; a text that was cut has no end; nothing but the end is one."""
    logits = written(
        (math.log(0.25), [7, 8]), (math.log(0.25), [7, 8, 9, 7]), (math.log(0.25), []), (0.0, [5]), (IMPOSSIBLE, [])
    )
    wanted = [0.25 ** (1 / math.sqrt(3)), 0.25**0.5, 0.25, 1.0, 0.0]
    np.testing.assert_allclose(Text(max_new_tokens=4).confidence(logits, None, [], []), wanted, rtol=1e-6)
    assert Text().confidence(np.zeros((0, 1), np.float32), None, [], []).tolist() == []
