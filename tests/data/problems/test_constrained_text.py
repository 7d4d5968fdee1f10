"""Sentences that satisfy counts."""

import pytest

from niwaki.data.problems._problem import problem_of

QUESTION = "words 8 last again quiet 1 finds 1"


@pytest.mark.parametrize(
    ("candidate", "right"),
    [
        ("the child finds the green quiet house again", True),
        ("the old quiet wind finds the song again", True),  # another sentence
        ("the child finds the green house again", False),  # 7 words
        ("the child finds the quiet green quiet house again", False),
        ("the child finds the green quiet house today", False),
        ("the child the finds green quiet house again", False),  # no sentence
        ("again again again again again again again again", False),
    ],
)
def test_a_sentence_is_right_if_all_counts_are(candidate, right):
    assert problem_of("constrained_text").verify(QUESTION, candidate) == right


@pytest.mark.parametrize(
    "question",
    ["words", "words 8", "words 8 last", "last again words 8", "words 8 last again quiet", "words 8 last sing"],
)
def test_malformed_questions_have_no_answer(question):
    assert not problem_of("constrained_text").verify(question, "the child finds the green quiet house again")
