"""BLEU and chrF from numbers of rows are sacreBLEU's own, on any rows and any draw of them; two are worked out by hand."""

import math
import time

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as some

from niwaki.evaluate.quality import difference, quality
from niwaki.tasks._translation_scores import NUMBERS, OF_BLEU, bleu, chrf, counts, signature
from niwaki.tasks.translation import Translation

SENTENCES = [
    "Two young, White males are outside near many bushes.",
    "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche.",
    "A man in a blue shirt is standing on a stool cleaning a window",
    "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster.",
    "It costs $3.50 (or 2,000 yen) — isn't that <cheap> & nice?",
    "",
    "\u4e24\u4e2a\u5e74\u8f7b\u4eba\u5728\u706b\u8f66\u7ad9\u3002",
    "e\u0301te\u0301 \u00e9t\u00e9 👩‍👧",
    "Büsche Büsche Büsche",
]
texts = some.lists(some.tuples(some.sampled_from(SENTENCES), some.sampled_from(SENTENCES[:5])), min_size=1, max_size=12)


def theirs(predicted, gold):
    return sacrebleu.corpus_bleu(predicted, [gold]).score / 100, sacrebleu.corpus_chrf(predicted, [gold]).score / 100


@given(texts)
def test_scores_of_a_corpus_are_sacrebleus(pairs):
    predicted, gold = map(list, zip(*pairs, strict=True))
    summed = counts(predicted, gold).sum(axis=0)
    assert [bleu(summed), chrf(summed)] == pytest.approx(theirs(predicted, gold), abs=1e-9)


@given(texts, some.randoms(use_true_random=False))
def test_scores_of_rows_that_are_drawn_are_those_of_their_texts(pairs, draw):
    predicted, gold = map(list, zip(*pairs, strict=True))
    rows = [draw.randrange(len(pairs)) for _ in pairs]
    summed = counts(predicted, gold)[rows].sum(axis=0)
    wanted = theirs([predicted[row] for row in rows], [gold[row] for row in rows])
    assert [bleu(summed), chrf(summed)] == pytest.approx(wanted, abs=1e-9)


def test_bleu_by_hand():
    found = counts(["the the cat sat on mats"], ["the cat sat on the mat"])
    predicted, gold, *grams = found[0, :OF_BLEU].tolist()
    assert (predicted, gold) == (6, 6)
    assert grams == [
        5,
        3,
        2,
        1,
        6,
        5,
        4,
        3,
    ]  # the, the, cat, sat, on; the cat, cat sat, sat on; …; right, then predicted
    assert bleu(found[0]) == pytest.approx((5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    short = counts(["the cat sat on"], ["the cat sat on the mat"])
    assert bleu(short[0]) == pytest.approx(math.exp(1 - 6 / 4))  # all right, but short
    smoothed = counts(["the cat ran off now"], ["the cat sat on the mat"])  # 2 of 5, 1 of 4, 0 of 3, 0 of 2
    assert bleu(smoothed[0]) == pytest.approx(math.exp(1 - 6 / 5) * (2 / 5 * 1 / 4 * 1 / (2 * 3) * 1 / (4 * 2)) ** 0.25)


def test_chrf_by_hand():
    """`abc` for `abd`: 2 of 3 characters and 1 of 2 pairs are right, and no threesome; longer ones are not there."""
    found = counts(["abc"], ["abd"])
    assert found[0, OF_BLEU:].tolist() == [3, 3, 2, 2, 2, 1, 1, 1, 0, *[0] * 9]
    mean = (2 / 3 + 1 / 2 + 0) / 3
    assert chrf(found[0]) == pytest.approx(5 * mean * mean / (4 * mean + mean))


def test_the_signature_is_that_of_sacrebleu():
    predicted = signature()
    assert f"BLEU nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}" in predicted
    assert f"chrF2 nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{sacrebleu.__version__}" in predicted


def test_rows_that_do_not_match_are_a_fault_and_none_are_no_rows():
    with pytest.raises(ValueError, match="2 texts for 1 references"):
        counts(["a", "b"], ["a"])
    assert counts([], []).shape == (0, NUMBERS)


def example_stats(predicted, gold):
    return np.hstack([np.zeros((len(predicted), 1), dtype=np.int64), counts(predicted, gold)])


def test_a_thousand_resamples_take_no_look_at_texts_and_little_time():
    task = Translation(path="unused")
    gold = SENTENCES[:5] * 200
    first, second = example_stats(gold[5:] + gold[:5], gold), example_stats([SENTENCES[1]] * len(gold), gold)
    began = time.process_time()
    found, paired = quality(task, first), difference(task, [first], [second])
    assert time.process_time() - began < 10  # some 0.5 s on one core
    assert found["metric"] == "bleu" and found["low"] <= found["value"] <= found["high"]
    assert set(found["all"]) == {"bleu", "chrf", "exact"} and paired["shown"]
