"""Small edits of any text: one place changes, nothing else, and the same seed gives the same edit."""

from difflib import SequenceMatcher

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from niwaki.evaluate.changes.edits import EDITS, case, edited, punctuation, typo, whitespace, word_dropped


def draw(seed=0):
    return np.random.default_rng(seed)


def test_edits_by_hand():
    assert typo("so fine ok", draw()) == "so fnie ok" and typo("oooo an it", draw()) is None
    assert case("OK", draw()) == "ok" and case("12 日本", draw()) is None
    assert case("film", draw()) == "FILM"
    assert punctuation("It ends...", draw()) == "It ends" and punctuation("It ends ", draw()) == "It ends."
    assert punctuation("?!", draw()) is None
    assert whitespace("a b", draw()) == "a  b" and whitespace("ab", draw()) is None
    assert word_dropped("a b", draw()) is None and word_dropped("a a a", draw()) == "a a"


@settings(max_examples=12)
@given(st.text(max_size=60), st.integers(0, 9))
def test_every_text_is_edited_in_one_place_or_not_at_all(text, seed):
    for name, kind in EDITS.items():
        found = kind.change(text, draw(seed))
        assert found == kind.change(text, draw(seed)), "deterministic"
        if found is None:
            continue
        assert found.strip() and found != text
        if name == "whitespace":
            assert found.split() == text.split()
        if name == "typo":
            changes = [
                one for one in SequenceMatcher(None, text, found, autojunk=False).get_opcodes() if one[0] != "equal"
            ]
            assert len(found) == len(text) and sorted(found) == sorted(text) and len(changes) <= 2
        if name == "word dropped":
            assert len(found.split()) == len(text.split()) - 1


@pytest.mark.parametrize("name", EDITS)
def test_inputs_keep_their_form(name):
    kind = EDITS[name]
    pair = edited(("a lovely film", ["good end", "bad end"]), kind, draw())
    assert pair[1] == ["good end", "bad end"] and pair[0] != "a lovely film"
    words = edited(["a", "lovely", "film"], kind, draw())
    assert (words is None) != kind.of_words and (words is None or len(words) == 3)
    assert edited({"text": "x"}, kind, draw()) is None and edited([], kind, draw()) is None
