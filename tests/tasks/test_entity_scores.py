"""Entities and their counts are those of seqeval, for well formed tags and any others."""

import numpy as np
import pytest
import seqeval.metrics
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as some
from seqeval.metrics.sequence_labeling import get_entities

from niwaki.tasks import _entity_scores as entities

pytestmark = pytest.mark.filterwarnings("ignore:.*NE tag", "ignore::seqeval.metrics.v1.UndefinedMetricWarning")
MANY = examples(max_examples=300)

# what the default mode knows: any order of B, I, E, S with or without a type, and O
known = some.one_of(
    some.just("O"),
    some.builds(
        lambda letter, kind: letter + kind, some.sampled_from("BIES"), some.sampled_from(["", "-PER", "-LOC", "-A-B"])
    ),
)
# and what it does not: BILOU, types on O, dashes in odd places, no prefix at all
strange = some.one_of(
    known,
    some.sampled_from(["U-PER", "L-PER", "U", "L", "O-PER", ".", ".-PER", "B-", "I--PER", "BPER", "PER", "-", "I-_"]),
)


@MANY
@given(some.lists(strange, max_size=12))
def test_entities_are_seqevals(tags):
    assert entities.entities(tags) == get_entities(tags)
    assert entities.entities(tuple(tags)) == get_entities(tags)


sentences = some.lists(some.lists(some.tuples(known, known), min_size=1, max_size=8), min_size=1, max_size=5)


@MANY
@given(sentences)
def test_scores_of_a_corpus_are_seqevals(corpus):
    predicted, gold = ([[row[side] for row in sentence] for sentence in corpus] for side in (0, 1))
    summed = np.sum([entities.counts(*pair) for pair in zip(predicted, gold, strict=True)], axis=0)
    for ours, theirs in (
        (entities.precision_of, seqeval.metrics.precision_score),
        (entities.recall_of, seqeval.metrics.recall_score),
        (entities.f1_of, seqeval.metrics.f1_score),
    ):
        score = ours(*summed)
        assert type(score) is float and score == pytest.approx(theirs(gold, predicted), abs=1e-9, rel=0)
    types = ["A-B", "LOC", "PER", "_", "never"]
    by_type = sum(entities.counts_by_type(*pair, types) for pair in zip(predicted, gold, strict=True))
    assert by_type.sum(axis=0).tolist() == summed.tolist()
    if by_type.any():  # else seqeval divides by the number of types, 0
        macro = seqeval.metrics.f1_score(gold, predicted, average="macro")
        assert entities.f1_macro_of(by_type) == pytest.approx(macro, abs=1e-9, rel=0)


@pytest.mark.parametrize(
    "tags, found",
    [
        ("B-PER I-PER O B-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),
        ("I-PER I-PER O I-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),  # IOB1: B only parts neighbours
        ("B-PER B-PER", [("PER", 0, 0), ("PER", 1, 1)]),
        ("B-PER I-LOC", [("PER", 0, 0), ("LOC", 1, 1)]),  # a new type is a new entity
        ("B-PER I-PER E-PER S-PER", [("PER", 0, 2), ("PER", 3, 3)]),
        ("E-PER I-PER", [("PER", 0, 0), ("PER", 1, 1)]),
        ("B I O S", [("_", 0, 1), ("_", 3, 3)]),
        ("U-PER U-PER", [("PER", 0, 1)]),  # BILOU is not known to this mode
        ("B-PER I-PER L-PER O", [("PER", 0, 2)]),
        ("O O", []),
        ("", []),
    ],
)
def test_entities_by_hand(tags, found):
    assert entities.entities(tags.split()) == found


def test_counts_and_scores_by_hand():
    gold = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-LOC"]
    predicted = ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC"]  # one of the wrong type
    assert entities.counts(predicted, gold) == (2, 3, 3)
    assert entities.counts(predicted[:2] + ["I-PER"] * 4, gold) == (0, 1, 3)  # one that goes on too long
    assert entities.counts_by_type(predicted, gold, ["LOC", "PER"]).tolist() == [[1, 1, 2], [1, 2, 1]]
    assert entities.f1_macro_of(np.array([[1, 1, 2], [1, 2, 1], [0, 0, 0]])) == pytest.approx(2 / 3)
    assert entities.precision_of(1, 4, 2) == 0.25
    assert entities.recall_of(1, 4, 2) == 0.5
    assert entities.f1_of(1, 4, 2) == pytest.approx(2 * 0.25 * 0.5 / 0.75)


def test_nothing_scores_nothing():
    assert entities.counts(["O"], ["O"]) == (0, 0, 0)
    for score in (entities.precision_of, entities.recall_of, entities.f1_of):
        assert score(0, 0, 0) == score(0, 0, 5) == score(0, 5, 0) == 0.0
    assert entities.f1_macro_of(np.zeros((3, 3), dtype=np.int64)) == 0.0
    assert entities.f1_macro_of(np.zeros((0, 3), dtype=np.int64)) == 0.0
