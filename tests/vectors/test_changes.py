"""Words that moved between two tables."""

import numpy as np

from niwaki.vectors.changes import changed_words
from niwaki.vectors.normalization import unit
from niwaki.vectors.table import WordVectors


def test_the_word_that_moved_is_first():
    draw = np.random.default_rng(0)
    words = [f"w{n}" for n in range(40)]
    before = unit(draw.normal(size=(40, 8)).astype(np.float32))
    after = before.copy()
    after[7] = before[21]  # now means what w21 means
    first, *others = changed_words(WordVectors(words, before), WordVectors(words[::-1], after[::-1]), 3)
    assert first["word"] == "w7" and "w21" in first["target"][:1] and "w7" not in first["source"] + first["target"]
    assert first["cosine"] < 0.9 and first["shared"] < 1
    assert all(one["cosine"] > 0.999 for one in others) and len(others) == 2


def test_tables_without_common_words_have_no_changes():
    one, other = (WordVectors([word], np.ones((1, 2), dtype=np.float32)) for word in "ab")
    assert changed_words(one, other, 5) == []
