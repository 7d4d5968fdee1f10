"""Every word has the tag of its first token, however long the sentence and however its words fall into subwords."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.answers.tags import Tags

from .tokens import noise, of_bytes, tokens_of

INNER = tiny.tokenizer().backend_tokenizer
NO_TOKEN = "\u200b"  # what BERT's normalizer leaves nothing of
LONG = "un" + "ing" * 30
WORDS = ["film", "Unlovely", "goods", "x", "Ärger", "日", "日本", "😀", "a-b", NO_TOKEN, "[SEP]", "New York", LONG]
SENTENCES = some.lists(some.lists(some.sampled_from(WORDS), min_size=1, max_size=40), min_size=1, max_size=4)


def predicted_by_name(rows, tokenizer):
    """Logits of a tagger that calls every token by its own name."""
    return np.eye(tokenizer.get_vocab_size(), dtype=np.float32)[rows.ids.values]


def names_of(tokenizer):
    return [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]


def first_token(word, tokenizer):
    tokens = tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False).tokens
    return tokens[0] if tokens else None


@given(sentences=SENTENCES, most=some.integers(8, 40), bytes_too=some.booleans())
def test_every_word_has_the_tag_of_its_first_token_in_order(sentences, most, bytes_too):
    tokenizer = of_bytes() if bytes_too else INNER
    rows = Tags().encode(sentences, tokenizer, most)
    assert rows.ids.lengths.max() <= most
    names = [*names_of(tokenizer)[:-1], "O"]  # a word without a token is outside of everything
    found = Tags().values(predicted_by_name(rows, tokenizer), rows, sentences, names)
    assert found == [[first_token(word, tokenizer) or "O" for word in words] for words in sentences]


@given(sentences=SENTENCES, most=some.integers(8, 40))
def test_sentences_are_cut_between_words_and_no_sooner_than_needed(sentences, most):
    rows = Tags().encode(sentences, INNER, most)
    sizes = [
        [max(1, len(INNER.encode([word], is_pretokenized=True, add_special_tokens=False))) for word in words]
        for words in sentences
    ]
    covered = [[] for _ in sentences]
    for owner, (first, places) in zip(rows.input_index, rows.metadata, strict=True):
        here = sizes[owner][first : first + len(places)]
        assert sum(here) <= most - 2 or len(here) == 1  # fits, but for a giant alone
        following = sizes[owner][first + len(places) : first + len(places) + 1]
        if sum(map(len, covered[owner])) + len(places) < len(sizes[owner]):
            tokens = [
                len(INNER.encode([word], is_pretokenized=True, add_special_tokens=False)) for word in sentences[owner]
            ]
            assert sum(tokens) > most - 2  # the whole would not have fitted
            assert sum(here) + sum(following) > most - 2  # nor one word more
        covered[owner].append(list(range(first, first + len(places))))
    assert [sum(parts, []) for parts in covered] == [list(range(len(words))) for words in sentences]  # noqa: RUF017


def test_words_of_several_subwords_by_hand():
    rows = Tags().encode([["unlovely", "films", NO_TOKEN, "end"]], INNER, 16)
    assert tokens_of(rows, INNER) == [
        ["[CLS]", "un", "##l", "##o", "##v", "##e", "##ly", "film", "##s", "end", "[SEP]"]
    ]
    assert rows.metadata[0][0] == 0 and rows.metadata[0][1].tolist() == [1, 7, -1, 9]
    logits = np.zeros((11, 3), dtype=np.float32)
    logits[[1, 7, 9], [1, 2, 1]] = np.log(2)
    logits[[2, 3, 8], 2] = 50.0  # later tokens of a word have no say
    logits[[0, 10], 1] = 50.0  # nor have marks
    (answer,) = Tags().answers(logits, rows, [["unlovely", "films", NO_TOKEN, "end"]], ["O", "B-X", "I-X"])
    assert answer.tags == ["B-X", "I-X", "O", "B-X"] and answer.words == ["unlovely", "films", NO_TOKEN, "end"]
    assert answer.probabilities == pytest.approx([0.5, 0.5, 0.0, 0.5])
    assert answer.line() == f"unlovely/B-X films/I-X {NO_TOKEN} end/B-X"


def test_a_long_sentence_by_hand():
    words = ["film"] * 7 + ["goods"] + ["plot"] * 3
    rows = Tags().encode([["end"], words], INNER, 10)  # room for 8 tokens
    assert tokens_of(rows, INNER)[1:] == [
        ["[CLS]", *["film"] * 7, "[SEP]"],
        ["[CLS]", "good", "##s", *["plot"] * 3, "[SEP]"],
    ]
    assert rows.input_index.tolist() == [0, 1, 1] and [first for first, _ in rows.metadata] == [0, 0, 7]


def test_a_character_may_be_several_tokens():
    words = ["日本", "語", "です", "か", "ね"]
    rows = Tags().encode([words], of_bytes(), 16)  # 7 + 4 | 7 + 4 | 4, a space before each word
    assert [len(places) for _, places in rows.metadata] == [2, 2, 1] and rows.ids.lengths.tolist() == [13, 13, 6]
    assert all((places >= 0).all() for _, places in rows.metadata)


def test_tags_without_an_outside():
    rows = Tags().encode([["film", NO_TOKEN]], INNER, 8)
    assert Tags().values(np.eye(3, 2)[::-1], rows, [["film", NO_TOKEN]], ["NOUN", "VERB"]) == [["VERB", "NOUN"]]


def test_sentences_keep_to_themselves():
    sentences = [["film"] * 30, ["good", "goods"], ["x"] * 9]
    together = Tags().encode(sentences, INNER, 12)
    logits = noise(together, 4)
    found = Tags().values(logits, together, sentences, list("OABC"))
    for number, words in enumerate(sentences):
        alone = Tags().encode([words], INNER, 12)
        mine = np.flatnonzero(together.input_index == number)
        own = np.concatenate([logits[together.ids.starts[row] : together.ids.starts[row + 1]] for row in mine])
        assert Tags().values(own, alone, [words], list("OABC")) == [found[number]]


def test_how_sure_is_the_least_sure_word():
    sentences = [["unlovely", "films", NO_TOKEN, "end"], ["film"] * 12, [NO_TOKEN]]
    rows = Tags().encode(sentences, INNER, 12)
    assert rows.input_index.tolist() == [0, 1, 1, 2]
    logits = np.full((len(rows.ids.values), 3), [0, 9, 0], dtype=np.float32)
    logits[[1, 7, 9]] = np.log([[1, 2, 1], [4, 2, 2], [6, 1, 1]])  # first tokens: ½, ½ and ¾
    logits[7] = np.log([1, 1, 3])
    logits[[2, 8]] = 0.0  # later tokens of a word have no say
    logits[rows.ids.starts[2] + 1] = np.log([7, 1, 2])  # of the second piece of the second sentence
    np.testing.assert_allclose(Tags().confidence(logits, rows, sentences, []), [0.5, 0.7, 1.0], rtol=1e-6)
