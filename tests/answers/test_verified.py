"""The first candidate that solves the problem is the answer."""

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from niwaki.answers._beam_search import IMPOSSIBLE, NO_TOKEN
from niwaki.answers.text import TARGET
from niwaki.answers.verified import Verified

WORDS = ["[PAD]", "[BOS]", "[EOS]", "[UNK]", "plus", "minus", "times", *"0123456789"]
LONGEST = 12


@pytest.fixture
def kind():
    inner = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.pre_tokenizer = WhitespaceSplit()
    own = Verified(verifier="factoring", beam=3, max_new_tokens=LONGEST)
    return own.with_files({TARGET: inner.to_str().encode()})


def row(*candidates):
    """Texts with the logarithm of how likely each is."""
    found = []
    for text, score in candidates:
        ids = [WORDS.index(word) for word in text.split()]
        found += [score, *ids, *[NO_TOKEN] * (LONGEST - len(ids))]
    return found


RIGHT, WRONG, NONE = "plus 1 minus 1 times plus 1 plus 9", "plus 1 plus 9", ("", IMPOSSIBLE)


def test_the_first_verified_candidate_is_the_answer(kind):
    logits = np.array(
        [
            row((WRONG, -0.1), (RIGHT, -0.7), (RIGHT, -3.0)),
            row((RIGHT, -0.1), (WRONG, -0.2), NONE),
            row((WRONG, -0.5), NONE, NONE),
        ],
        dtype=np.float32,
    )
    found = kind.answers(logits, None, ["plus 1 plus 8 minus 9"] * 3, [])
    assert [(one.text, one.verified, one.rank, one.candidates) for one in found] == [
        (RIGHT, True, 2, 3),
        (RIGHT, True, 1, 2),
        (WRONG, False, 1, 1),
    ]
    assert found[0].probability == pytest.approx(np.exp(-0.7)) and found[0].line() == f"{RIGHT}\tverified"
    assert found[2].record() == {
        "generated": WRONG,
        "verified": False,
        "rank": 1,
        "candidates": 1,
        "probability": pytest.approx(np.exp(-0.5)),
    }
    assert kind.values(logits, None, ["plus 1 plus 8 minus 9"] * 3, [])[0] == {
        "text": RIGHT,
        "verified": True,
        "rank": 2,
    }
    confidence = kind.confidence(logits, None, ["plus 1 plus 8 minus 9"] * 3, [])
    assert confidence[:2].tolist() == [1.0, 1.0] and 0 < confidence[2] < 0.5


def test_one_greedy_text_is_a_candidate_too(kind):
    found = kind.values(np.array([row((RIGHT, -1.0))], dtype=np.float32), None, ["plus 1 plus 8 minus 9"], [])
    assert found == [{"text": RIGHT, "verified": True, "rank": 1}]
    assert kind.search.candidates == 3 and kind.search.greedy.candidates == 1
