"""Kneser-Ney probabilities: by hand from five sentences, and equal to a plain implementation with dictionaries."""

import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from niwaki.evaluate.ngrams import discounts_of, find, places_in, train

BEGIN, A, B, C, D = range(5)
SENTENCES = [[BEGIN, A, B], [BEGIN, A, B], [BEGIN, A, C], [BEGIN, B, C], [BEGIN, C]]


def probability(model, *tokens):
    return math.exp(model.log_probabilities(np.array(tokens), np.array([0]))[-1])


def test_bigrams_of_five_sentences_by_hand():
    """All counts of counts are too few for discounts, so these are 1/2, 1 and 3/2. Different tokens before a, b, c: 1, 2, 3."""
    model = train(SENTENCES, 5, predictable=4, order=2)
    alone = {A: 0.5 / 6 + 1 / 8, B: 1 / 6 + 1 / 8, C: 1.5 / 6 + 1 / 8, D: 1 / 8}
    assert sum(alone.values()) == pytest.approx(1)
    assert probability(model, BEGIN, D, D) == pytest.approx(alone[D])  # nothing is known after d
    assert probability(model, BEGIN, A) == pytest.approx((3 - 1.5) / 5 + 0.5 * alone[A])
    assert probability(model, BEGIN, A, B) == pytest.approx((2 - 1) / 3 + 0.5 * alone[B])
    assert probability(model, BEGIN, A, C) == pytest.approx((1 - 0.5) / 3 + 0.5 * alone[C])
    assert probability(model, BEGIN, A, D) == pytest.approx(0.5 * alone[D])
    assert model.size == 4 + 6


def test_discounts_of_counts_of_counts():
    counts = np.repeat([1, 2, 3, 4, 7], [8, 4, 2, 1, 5])
    share = 8 / (8 + 2 * 4)
    wanted = [0, 1 - 2 * share * 4 / 8, 2 - 3 * share * 2 / 4, 3 - 4 * share * 1 / 2]
    assert discounts_of(counts) == pytest.approx(wanted)
    assert discounts_of(np.array([1, 1, 2])).tolist() == [0, 0.5, 1, 1.5]


def plain(documents, order, predictable):
    """The same with dictionaries, from the definition."""
    raw = [Counter() for _ in range(order + 1)]
    for document in documents:
        for size in range(1, order + 1):
            raw[size].update(tuple(document[at : at + size]) for at in range(len(document) - size + 1))
    counts = [{} for _ in range(order)] + [dict(raw[order])]
    for size in range(1, order):
        before = defaultdict(set)
        for gram in raw[size + 1]:
            before[gram[1:]].add(gram[0])
        for gram, count in raw[size].items():
            counts[size][gram] = count if gram[0] == BEGIN and size > 1 else len(before[gram])
    discounts = [discounts_of(np.array([*found.values()], dtype=int)) for found in counts]

    def probability(token, context):
        if context is None:
            return 1 / predictable
        below = probability(token, context[1:] if context else None)
        found = {gram: count for gram, count in counts[len(context) + 1].items() if gram[:-1] == context}
        total, own = sum(found.values()), discounts[len(context) + 1]
        if not total:
            return below
        count, left = found.get((*context, token), 0), sum(own[min(each, 3)] for each in found.values())
        return (count - own[min(count, 3)]) / total + left / total * below

    return probability


@pytest.mark.parametrize("order", [2, 3, 5])
def test_probabilities_are_those_of_the_definition(order):
    draw = random.Random(order)
    documents = [[BEGIN, *draw.choices([1, 1, 1, 2, 2, 3, 4, 5, 6], k=draw.randint(0, 30))] for _ in range(20)]
    model, wanted = train(documents, 9, 8, order), plain(documents, order, 8)
    texts = [[BEGIN, *draw.choices(range(1, 9), k=draw.randint(1, 12))] for _ in range(6)]
    starts = np.cumsum([0, *map(len, texts)])[:-1]
    found = model.log_probabilities(np.concatenate(texts), starts)
    each = [
        math.log(wanted(text[at], tuple(text[max(0, at - order + 1) : at]))) if at else 0.0
        for text in texts
        for at in range(len(text))
    ]
    assert found == pytest.approx(each, abs=1e-6)
    assert sum(probability(model, BEGIN, 1, 2, token) for token in range(1, 9)) == pytest.approx(1)


def test_texts_of_several_sequences_do_not_read_each_other():
    model = train(SENTENCES, 5, 4, 3)
    both = model.log_probabilities(np.array([BEGIN, A, B, BEGIN, A, B]), np.array([0, 3]))
    assert np.array_equal(both[:3], both[3:]) and both[0] == 0


def test_lookups():
    assert find(np.array([2, 5, 9]), np.array([5, 1, 9, 10])).tolist() == [1, -1, 2, -1]
    assert find(np.zeros(0, int), np.array([3])).tolist() == [-1]
    assert places_in(5, np.array([0, 3])).tolist() == [0, 1, 2, 0, 1]


def test_a_saved_model_has_its_arrays(tmp_path):
    model = train(SENTENCES, 5, 4, 3)
    model.save(tmp_path / "model")
    assert np.array_equal(np.load(tmp_path / "model" / "2-keys.npy"), model.grams[1].keys)
