"""Arguments counted as srl-eval.pl counts them, worked out by hand from its rules."""

import pytest

from niwaki.tasks._entity_scores import f1_of, precision_of, recall_of
from niwaki.tasks._srl_scores import arguments, counts, head_of


def tags(text):
    return text.split()


GOLD = tags("B-ARG0 I-ARG0 S-01 B-ARG1 I-ARG1 B-ARGM-TMP")


@pytest.mark.parametrize(
    "predicted, gold, wanted",
    [
        (GOLD, GOLD, (3, 3, 3)),
        (tags("O O S-01 O O O"), GOLD, (0, 0, 3)),
        (GOLD, tags("O O S-01 O O O"), (0, 3, 0)),
        (tags("B-ARG0 I-ARG0 S-02 B-ARG1 I-ARG1 B-ARGM-TMP"), GOLD, (3, 3, 3)),  # the predicate is not an argument
        (tags("B-ARG0 O S-01 B-ARG1 I-ARG1 B-ARGM-LOC"), GOLD, (1, 3, 3)),  # a word short; another label
        (tags("B-ARG0 I-ARG0 S-01 B-ARG1 B-ARG1 B-ARGM-TMP"), GOLD, (2, 4, 3)),  # one in two halves: both wrong
        (
            tags("I-ARG0 I-ARG0 S-01 B-ARG1 I-ARG1 B-ARGM-TMP"),
            GOLD,
            (3, 3, 3),
        ),  # a file may hold tags that are not well formed
        # C-X goes on with X: one argument, right only as a whole
        (tags("B-ARG1 S-01 B-C-ARG1"), tags("B-ARG1 S-01 B-C-ARG1"), (1, 1, 1)),
        (tags("B-ARG1 S-01 O"), tags("B-ARG1 S-01 B-C-ARG1"), (0, 1, 1)),
        (tags("B-ARG1 S-01 B-ARG1"), tags("B-ARG1 S-01 B-C-ARG1"), (0, 2, 1)),
        (
            tags("B-ARG1 S-01 B-C-ARG1 B-C-ARG1"),
            tags("B-ARG1 S-01 B-C-ARG1 I-C-ARG1"),
            (0, 1, 1),
        ),  # same words, other subwords
        # it goes on with the last X before it
        (tags("B-ARG1 B-ARG1 S-01 B-C-ARG1"), tags("B-ARG1 B-ARG1 S-01 B-C-ARG1"), (2, 2, 2)),
        (tags("B-ARG1 O S-01 B-C-ARG1"), tags("B-ARG1 B-ARG1 S-01 B-C-ARG1"), (0, 1, 2)),
        # without an X before it, it is one, and goes on with itself
        (tags("B-C-ARG1 S-01 O"), tags("B-ARG1 S-01 O"), (1, 1, 1)),
        (tags("B-C-ARG1 S-01 B-C-ARG1"), tags("B-ARG1 S-01 B-C-ARG1"), (1, 1, 1)),
        # R-X is a label of its own, with or without an X; what belongs to the predicate is never counted
        (tags("B-ARG0 B-R-ARG0 S-01"), tags("B-ARG0 B-R-ARG0 S-01"), (2, 2, 2)),
        (tags("B-ARG0 B-ARG0 S-01"), tags("B-ARG0 B-R-ARG0 S-01"), (1, 2, 2)),
        (tags("S-01 B-ARG1 B-C-V"), tags("S-01 B-ARG1 O"), (1, 1, 1)),
    ],
)
def test_counts_by_hand(predicted, gold, wanted):
    assert counts(predicted, gold) == wanted


def test_f1_of_a_small_corpus_by_hand():
    """Two predicates: 1 of 3 predicted and 3 true is right, then 2 of 2 predicted and 3 true: 3 of 5 and of 6, so F1 is 6 / 11."""
    first = counts(tags("B-ARG0 O S-01 B-ARG1 I-ARG1 B-ARGM-LOC"), GOLD)
    second = counts(tags("B-ARG0 I-ARG0 S-01 B-ARG1 I-ARG1 O"), GOLD)
    summed = [a + b for a, b in zip(first, second, strict=True)]
    assert summed == [3, 5, 6]
    assert (precision_of(*summed), recall_of(*summed), f1_of(*summed)) == pytest.approx((0.6, 0.5, 6 / 11))


def test_subwords_are_joined_in_the_order_of_the_sentence():
    found = arguments([("C-ARG1", 0, 1), ("ARG1", 2, 4), ("R-ARG1", 4, 5), ("C-ARG1", 6, 8), ("C-R-ARG1", 8, 9)])
    assert found == {("ARG1", ((0, 1),)), ("ARG1", ((2, 4), (6, 8))), ("R-ARG1", ((4, 5), (8, 9)))}


def test_heads_are_scored_where_a_tree_is_given():
    """The old man sat on the mat: the subject's head is `man`, that of `on the mat` is `mat`."""
    heads = [3, 3, 4, 0, 7, 7, 4]
    assert head_of(0, 3, heads) == 2 and head_of(4, 7, heads) == 6 and head_of(0, 7, heads) == 3
    assert head_of(0, 2, [2, 1, 0]) == 0  # a circle has no head
    gold = tags("O O B-ARG0 S-01 O O B-ARGM-LOC")
    assert counts(tags("B-ARG0 I-ARG0 I-ARG0 S-01 B-ARGM-LOC I-ARGM-LOC I-ARGM-LOC"), gold, heads) == (2, 2, 2)
    assert counts(tags("B-ARG0 I-ARG0 O S-01 B-ARGM-LOC I-ARGM-LOC I-ARGM-LOC"), gold, heads) == (1, 2, 2)
    assert counts(tags("O O B-ARG0 S-01 B-ARGM-TMP I-ARGM-TMP I-ARGM-TMP"), gold, heads) == (1, 2, 2)
    # nothing is joined: a label at a head word counts by itself, C-X too; the predicate's do not
    assert counts(tags("O O B-ARG0 S-01 B-C-V O B-C-ARG0"), tags("O O B-ARG0 S-01 O O B-C-ARG0"), heads) == (2, 2, 2)
