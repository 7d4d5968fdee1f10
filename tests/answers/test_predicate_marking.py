"""Sentences with a marked predicate: separators, token types, windows."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from answers.tokens import INNER, SENTENCES, of_bytes, tokens_of
from niwaki.answers.roles import Roles
from niwaki.core.errors import InputError


def test_predicate_is_between_separators_with_token_type_1():
    rows = Roles().encode([(["the", "unlovely", "film"], 1), ["the", "unlovely", "film"]], INNER, 32)
    marked, plain = tokens_of(rows, INNER)
    own = ["un", "##l", "##o", "##v", "##e", "##ly"]
    assert marked == ["[CLS]", "the", "[SEP]", *own, "[SEP]", "film", "[SEP]"]
    assert rows.types[0].tolist() == [0, 0, *[1] * 8, 0, 0]
    assert plain == ["[CLS]", "the", *own, "film", "[SEP]"] and not rows.types[1].any()
    assert [(first, places.tolist(), at) for first, places, at in rows.metadata] == [
        (0, [1, 3, 10], 1),
        (0, [1, 2, 8], -1),
    ]


def test_byte_level_tokenizers_use_their_own_separator():
    """Of a tokenizer without word subwords, whose end of text is another."""
    tokenizer = of_bytes()
    rows = Roles().encode([(["a", "b"], 0)], tokenizer, 32)
    assert tokens_of(rows, tokenizer) == [["<s>", "</s>", "Ġ", "a", "</s>", "Ġ", "b", "</s>"]]


@given(words=SENTENCES, at=some.integers(0, 39), most=some.integers(8, 40), bytes_too=some.booleans())
def test_window_contains_the_predicate_and_as_many_words_as_fit(words, at, most, bytes_too):
    tokenizer, at = of_bytes() if bytes_too else INNER, at % len(words)
    rows = Roles().encode([(words, at)], tokenizer, most)
    ((first, places, predicate),) = rows.metadata
    assert len(rows.ids) == 1 and rows.ids.lengths[0] <= most and predicate == at
    assert first <= at < first + len(places) <= len(words)
    assert rows.types[0].sum() >= 2 and places[at - first] > 0
    sizes = [len(tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False)) for word in words]
    if sum(sizes) + 4 <= most:
        assert first == 0 and len(places) == len(words)
    else:  # no neighbour that is left out would have fitted
        used = sum(sizes[first : first + len(places)]) + 4
        outside = [sizes[k] for k in (first - 1, first + len(places)) if 0 <= k < len(words)]
        assert used > most or all(used + size > most for size in outside)
    for word, place in zip(words[first:], places.tolist(), strict=False):
        if place >= 0 and sizes[words.index(word)]:
            piece = tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False).ids[0]
            assert rows.ids[0][place] == piece


def test_tokenizer_without_a_separator_is_rejected():
    bare = of_bytes()
    bare.post_processor = None
    with pytest.raises(InputError, match="which is needed to mark predicates"):
        Roles().encode([(["a"], 0)], bare, 16)


def test_window_extends_equally_to_both_sides():
    """Of nine tokens two are the text's marks, two the predicate's and one its own: two words are left on each side."""
    words = [*"abcdefghijk"]
    ((first, places, _),) = Roles().encode([(words, 5)], INNER, 9).metadata
    assert (first, len(places)) == (3, 5)
    ((first, places, _),) = (
        Roles().encode([(words, 0)], INNER, 9).metadata
    )  # where one side ends, the other has the rest
    assert (first, len(places)) == (0, 5)
