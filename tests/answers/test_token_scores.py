"""Log-probabilities of single tokens add up to the log-likelihood of their text."""

import numpy as np
import pytest

import tiny
from niwaki.answers._token_scores import TokenScores
from niwaki.answers.likelihood import Likelihood, log_probabilities

TOKENIZER = tiny.tokenizer()
MASK, BACKEND = TOKENIZER.mask_token_id, TOKENIZER.backend_tokenizer


@pytest.mark.parametrize(
    "how", [{"scoring": "causal"}, {"passes": 2}, {}, {"scoring": "masked_next", "passes": 3}], ids=str
)
def test_tokens_are_in_order_and_add_up(how):
    likelihood, inputs = Likelihood(mask_token_id=MASK, **how), ["the plot was very dull", ("good film", "a dull end")]
    kind = TokenScores.of(likelihood, BACKEND)
    rows = kind.encode(inputs, BACKEND, 16)
    logits = np.random.default_rng(0).normal(size=(int(rows.ids.lengths.sum()), len(TOKENIZER))).astype(np.float32)
    every = np.arange(len(rows.ids))
    whole = likelihood.answers(likelihood.reduce(logits, rows, every), rows, inputs, [])
    one, pair = kind.answers(kind.reduce(logits, rows, every), rows, inputs, [])
    assert [token for token, _ in one.per_token] == inputs[0].split()
    assert [[token for token, _ in text] for text in pair.per_token] == [text.split() for text in inputs[1]]
    assert one.log_likelihood == pytest.approx(whole[0].log_likelihood, rel=1e-5) and one.tokens == 5
    assert pair.log_likelihood == pytest.approx(whole[1].log_likelihood, rel=1e-5) and pair.tokens == [2, 3]
    assert sum(score for _, score in one.per_token) == pytest.approx(one.log_likelihood)


def test_a_causal_token_is_read_at_the_place_before_it():
    kind = TokenScores.of(Likelihood(scoring="causal"), BACKEND)
    rows = kind.encode(["good film"], BACKEND, 16)
    logits = np.random.default_rng(1).normal(size=(4, len(TOKENIZER))).astype(np.float32)
    (found,) = kind.answers(kind.reduce(logits, rows, np.arange(1)), rows, ["good film"], [])
    wanted = log_probabilities(logits[:2], rows.ids[0][1:3])
    assert [score for _, score in found.per_token] == pytest.approx(wanted.tolist())
    assert found.line() == f"good {wanted[0]:.3f} film {wanted[1]:.3f}"
