"""Semantic roles: which tags compete for a word, answers and their confidence."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from answers.tokens import INNER, NO_TOKEN, SENTENCES, noise
from niwaki.answers._answer_type import check_inputs
from niwaki.answers.roles import Prediction, Roles, frame_of, labelled_spans

LABELS = ["O", "P", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1", "S-01", "S-02", "S-05"]


@given(words=SENTENCES, at=some.integers(0, 39), seed=some.integers(0, 100))
def test_only_the_tags_of_a_mode_are_predicted_and_they_are_valid(words, at, seed):
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


def test_word_without_tokens_takes_the_tag_of_its_neighbours():
    words = ["the", NO_TOKEN, "film", "was"]
    rows = Roles().encode([(words, 3)], INNER, 32)
    logits = np.zeros((len(rows.ids.values), len(LABELS)), dtype=np.float32)
    logits[1, LABELS.index("B-ARG0")] = logits[2, LABELS.index("I-ARG0")] = 5
    assert Roles().values(logits, rows, [(words, 3)], LABELS) == [["B-ARG0", "I-ARG0", "I-ARG0", "S-01"]]


def test_answer_is_printed_as_one_line():
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


def test_sentences_words_and_predicates_are_accepted_as_inputs():
    assert check_inputs(Roles(), ["The cat sat.", ["a", "b"], ("The cat sat.", 2), (["a", "b"], 1)]) == [
        ["The", "cat", "sat", "."],
        ["a", "b"],
        (["The", "cat", "sat", "."], 2),
        (["a", "b"], 1),
    ]
    assert Roles().from_line("The cat sat\t2") == ("The cat sat", 2)
    assert Roles().from_line("2") == "2" and Roles().from_line("a\tb") == "a\tb"


def test_labelled_spans_match_values_computed_by_hand():
    assert labelled_spans(["I-A", "I-A", "B-A", "O", "I-B", "B-C-A", "I-C-A", "S-01", "P"]) == [
        ("A", 0, 2),
        ("A", 2, 3),
        ("B", 4, 5),
        ("C-A", 5, 7),
    ]


def test_confidence_is_that_of_the_least_certain_word():
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
