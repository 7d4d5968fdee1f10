"""Under the time limit tokens are the same, and a text that a pattern is slow on is rejected."""

import os
import threading

import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from niwaki.core.errors import InputError
from niwaki.tokenization import tokenizer_rules, tokenizing
from niwaki.tokenization.patterns import is_published
from niwaki.tokenization.training import MARKED, MARKED_OR_CONTINUING

SLOW = "[a-z]*[a-z]*[^a-z\\n]q"  # on long words only: passes where it is tried out on runs of one letter
SLOW_TEXT = "abc" * 100 + " x q"  # takes about a second: the abandoned thread ends soon


@pytest.fixture
def unwatched(monkeypatch):
    monkeypatch.setattr(tokenizing, "_watched", set())
    monkeypatch.setitem(os.environ, "TOKENIZERS_PARALLELISM", "false")


def tokenizer_of(pattern):
    tokenizer = Tokenizer(models.WordLevel({"?": 0, "a": 1, "film": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.WhitespaceSplit()]
    )
    return tokenizer


@pytest.mark.parametrize(
    "inputs, options",
    [
        (["a film", "", "film"], {"fast": True}),
        ([("a", "film"), ("film", "a")], {"fast": True}),
        ([["a", "film"], ["film"]], {"is_pretokenized": True}),
        (["a film"], {"add_special_tokens": False}),
        ([], {}),
    ],
)
def test_watched_or_not_the_tokens_are_the_same(unwatched, inputs, options):
    tokenizer = tokenizer_of(" ")
    found = []
    for _ in range(2):
        found.append(
            [
                (one.ids, one.type_ids, one.tokens, one.word_ids)
                for one in tokenizing.encode_batch(tokenizer, inputs, **options)
            ]
        )
        tokenizing.limit_time("x")
    assert found[0] == found[1]


def test_a_slow_text_is_rejected_before_it_is_tokenized(unwatched, monkeypatch):
    monkeypatch.setattr(tokenizing, "SECONDS", 0.1)
    tokenizing.limit_time(SLOW)
    with pytest.raises(InputError, match=r"takes more than 0 s for a text of 304 characters"):
        tokenizing.encode_batch(tokenizer_of("[a-z]*[a-z]*[a-z]*[^a-z\\n]q"), ["a film", SLOW_TEXT])
    assert any(thread.name == "niwaki-timed" for thread in threading.enumerate())


def test_only_patterns_that_are_not_published_are_watched(unwatched):
    for pattern, watched in ((" {2,}", set()), ("[a-z]+", {"[a-z]+"})):
        tokenizer_rules.check(
            {
                "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"},
                "pre_tokenizer": {
                    "type": "Split",
                    "pattern": {"Regex": pattern},
                    "behavior": "Isolated",
                    "invert": False,
                },
            },
            "x",
        )
        assert tokenizing._watched == watched


def test_patterns_that_niwaki_makes_are_published():
    assert is_published(MARKED) and is_published(MARKED_OR_CONTINUING)
