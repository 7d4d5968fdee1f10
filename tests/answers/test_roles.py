"""Marks, windows and modes: what the network reads of a predicate, and which tags compete for a word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.answers._answer_type import check_inputs
from niwaki.answers.roles import Prediction, Roles, frame_of, labelled_spans
from niwaki.core.errors import InputError

from .tokens import noise, of_bytes, tokens_of

INNER = tiny.tokenizer().backend_tokenizer
NO_TOKEN = "\u200b"
LABELS = ["O", "P", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1", "S-01", "S-02", "S-05"]
WORDS = ["film", "Unlovely", "goods", "x", "Ärger", "日", "😀", NO_TOKEN, "[SEP]", "un" + "ing" * 30]
SENTENCES = some.lists(some.sampled_from(WORDS), min_size=1, max_size=40)


def test_the_predicate_stands_between_separators_and_has_its_own_type():
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


def test_the_other_mark_of_bytes():
    """Of a tokenizer without word pieces, whose end of text is another."""
    tokenizer = of_bytes()
    rows = Roles().encode([(["a", "b"], 0)], tokenizer, 32)
    assert tokens_of(rows, tokenizer) == [["<s>", "</s>", "Ġ", "a", "</s>", "Ġ", "b", "</s>"]]


@given(words=SENTENCES, at=some.integers(0, 39), most=some.integers(8, 40), bytes_too=some.booleans())
def test_a_window_holds_the_predicate_and_all_that_fits(words, at, most, bytes_too):
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


@given(words=SENTENCES, at=some.integers(0, 39), seed=some.integers(0, 100))
def test_only_the_tags_of_a_mode_are_said_and_they_are_valid(words, at, seed):
    at = at % len(words)
    inputs = [words, (words, at)]
    kind = Roles(rolesets="film film.05 film.99\nx x.77")
    rows = kind.encode(inputs, INNER, 24)
    found, roles = kind.values(noise(rows, len(LABELS), seed), rows, inputs, LABELS)
    assert len(found) == len(roles) == len(words) and set(found) <= {"O", "P"}
    assert roles[at] in (["S-05"] if words[at] == "film" else ["S-01", "S-02", "S-05"])  # those of x were never learnt
    assert all(tag[:2] in ("O", "B-", "I-") for place, tag in enumerate(roles) if place != at)
    for before, tag in zip(["O", *roles], roles, strict=False):
        assert not tag.startswith("I-") or before in (f"B-{tag[2:]}", tag)


def test_a_word_without_a_token_goes_with_its_neighbours():
    words = ["the", NO_TOKEN, "film", "was"]
    rows = Roles().encode([(words, 3)], INNER, 32)
    logits = np.zeros((len(rows.ids.values), len(LABELS)), dtype=np.float32)
    logits[1, LABELS.index("B-ARG0")] = logits[2, LABELS.index("I-ARG0")] = 5
    assert Roles().values(logits, rows, [(words, 3)], LABELS) == [["B-ARG0", "I-ARG0", "I-ARG0", "S-01"]]


def test_answers_read_as_a_sentence():
    tags = ["B-ARG0", "I-ARG0", "S-01", "B-ARGM-LOC", "I-ARGM-LOC", "I-ARGM-LOC", "O"]
    words = ["The", "cat", "sat", "on", "the", "mat", "."]
    frame = frame_of(tags, np.array([0.9, 0.8, 0.7, 0.9, 0.6, 0.9, 1.0]), 0, 2, "sit.01")
    assert str(Prediction(words, [frame])) == "[ARG0 The cat] [V sat: sit.01] [ARGM-LOC on the mat] ."
    assert frame["probability"] == 0.7 and [one["probability"] for one in frame["arguments"]] == [0.8, 0.6]
    assert str(Prediction(words, [frame, frame])).count(" | ") == 1
    assert str(Prediction(words, [])) == "The cat sat on the mat ."  # nothing is done


def test_rolesets_are_looked_up_by_word_and_number():
    kind = Roles(rolesets="service serve.02 serve.01\nsat sit.01")
    assert kind.roleset("Service", "S-01") == "serve.01" and kind.roleset("sat", "S-01") == "sit.01"
    assert kind.roleset("Sat", "S-02") == "sat.02" and kind.roleset("zoomed", "S-01") == "zoomed.01"


def test_inputs_of_users():
    assert check_inputs(Roles(), ["The cat sat.", ["a", "b"], ("The cat sat.", 2), (["a", "b"], 1)]) == [
        ["The", "cat", "sat", "."],
        ["a", "b"],
        (["The", "cat", "sat", "."], 2),
        (["a", "b"], 1),
    ]
    assert Roles().from_line("The cat sat\t2") == ("The cat sat", 2)
    assert Roles().from_line("2") == "2" and Roles().from_line("a\tb") == "a\tb"


def test_a_tokenizer_that_ends_texts_with_nothing_cannot_mark():
    bare = of_bytes()
    bare.post_processor = None
    with pytest.raises(InputError, match="which is needed to mark predicates"):
        Roles().encode([(["a"], 0)], bare, 16)


def test_stretches_by_hand():
    assert labelled_spans(["I-A", "I-A", "B-A", "O", "I-B", "B-C-A", "I-C-A", "S-01", "P"]) == [
        ("A", 0, 2),
        ("A", 2, 3),
        ("B", 4, 5),
        ("C-A", 5, 7),
    ]


def test_a_window_reaches_as_far_to_both_sides():
    """Of nine tokens two are the text's marks, two the predicate's and one its own: two words are left on each side."""
    words = [*"abcdefghijk"]
    ((first, places, _),) = Roles().encode([(words, 5)], INNER, 9).metadata
    assert (first, len(places)) == (3, 5)
    ((first, places, _),) = (
        Roles().encode([(words, 0)], INNER, 9).metadata
    )  # where one side ends, the other has the rest
    assert (first, len(places)) == (0, 5)


def test_how_sure_is_the_least_sure_word_among_the_tags_that_compete():
    words = ["the", NO_TOKEN, "film", "was"]
    inputs = [(words, 3), words]
    kind = Roles(rolesets="was be.01 be.02")
    rows = kind.encode(inputs, INNER, 32)
    logits = np.full((len(rows.ids.values), len(LABELS)), -50.0, dtype=np.float32)
    marked = dict(zip(("the", "film", "was"), rows.metadata[0][1][[0, 2, 3]].tolist(), strict=True))
    for word, shares in {
        "the": {"B-ARG0": 3, "O": 1},
        "film": {"I-ARG0": 4, "O": 1, "P": 9},
        "was": {"S-01": 2, "S-02": 1, "S-05": 9},
    }.items():
        for label, share in shares.items():
            logits[marked[word], LABELS.index(label)] = np.log(share)
    plain = logits[rows.ids.starts[1] :]
    plain[:, LABELS.index("O")], plain[:, LABELS.index("P")] = np.log(9), 0.0
    np.testing.assert_allclose(kind.confidence(logits, rows, inputs, LABELS), [2 / 3, 0.9], rtol=1e-6)
