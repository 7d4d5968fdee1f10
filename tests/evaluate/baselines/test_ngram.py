"""The n-gram baseline scores texts and pairs on the tokens that a causal language model is scored on."""

import numpy as np
import pytest

import tiny
from niwaki.evaluate.baselines.ngram import scored, trained

TOKENIZER = tiny.tokenizer().backend_tokenizer
TEXTS = [text for text, _ in tiny.sentences(40)]


@pytest.fixture(scope="module")
def model():
    return trained(iter([TEXTS[:25], TEXTS[25:]]), TOKENIZER)


def test_scores_are_sums_over_tokens_that_are_not_special(model):
    text = "the film was very good"
    ids = TOKENIZER.encode(text).ids
    each = model.log_probabilities(np.array(ids), np.array([0]))
    ((found, tokens, end),) = scored(model, [text], TOKENIZER, 32)[0]
    assert (tokens, end) == (len(ids) - 2, len(text)) and found == pytest.approx(each[1:-1].sum())


def test_pairs_have_two_scores_and_long_texts_are_cut(model):
    pair, long = scored(model, [("a film", TEXTS[0]), " ".join(TEXTS)], TOKENIZER, 10)
    assert pair[0] == scored(model, ["a film"], TOKENIZER, 10)[0][0] and len(pair) == 2
    assert long[0][1] == 8 and long[0][2] < 60  # characters of these tokens


def test_texts_of_the_training_data_are_likelier(model):
    (seen,), (shuffled,) = scored(model, [TEXTS[3], " ".join(reversed(TEXTS[3].split()))], TOKENIZER, 64)
    assert seen[0] > shuffled[0]


def test_special_tokens_are_not_predicted(model):
    assert model.predictable == TOKENIZER.get_vocab_size() - 5
