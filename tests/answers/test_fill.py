"""Fill-mask: candidates worked by hand from logits."""

import numpy as np
import pytest

import tiny
from niwaki.answers._fill import Fill, likeliest
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError

TOKENIZER = tiny.tokenizer()
MASK, BACKEND = TOKENIZER.mask_token_id, TOKENIZER.backend_tokenizer


def fill(scoring="masked", top=2):
    return Fill.of(Likelihood(scoring=scoring, mask_token_id=MASK), BACKEND, len(TOKENIZER), top)


def test_likeliest_tokens_are_those_of_a_softmax():
    (ids, probabilities) = likeliest(np.log(np.array([[1.0, 5.0, 2.0, 2.0]], dtype=np.float32)) - 3, 3)[0]
    assert ids.tolist() == [1, 2, 3]
    assert probabilities == pytest.approx([0.5, 0.2, 0.2])


@pytest.mark.parametrize("blank", ["___", "______", "[MASK]", "<mask>"])
def test_a_mask_may_be_spelled_in_several_ways(blank):
    rows = fill().encode([f"the {blank} was dull"], BACKEND, 16)
    assert rows.ids[0].tolist() == TOKENIZER("the [MASK] was dull")["input_ids"]
    assert (rows.metadata[0].masks, rows.metadata[0].places) == ([2], [2])


def test_models_that_predict_the_next_token_are_read_before_the_mask():
    rows = fill("masked_next").encode(["the ___ was ___"], BACKEND, 16)
    assert (rows.metadata[0].masks, rows.metadata[0].places) == ([2, 4], [1, 3])


def test_texts_with_different_numbers_of_masks_share_a_batch():
    kind, inputs = fill(), ["___ film", "the plot", "___ was ___"]
    rows = kind.encode([inputs[0], inputs[2]], BACKEND, 16)
    logits = np.zeros((int(rows.ids.lengths.sum()), len(TOKENIZER)), dtype=np.float32)
    logits[1, 7], logits[rows.ids.starts[1] + 1, 8], logits[rows.ids.starts[1] + 3, 9] = 9, 9, 9
    both = kind.reduce(logits, rows, np.arange(2))
    first, second = kind.answers(both, rows, inputs, [])
    assert [[found[0].id for found in one.masks] for one in (first, second)] == [[7], [8, 9]]
    assert np.array_equal(kind.reduce(logits[rows.ids.starts[1] :], rows, np.array([1])), both[1:])
    assert second.masks[1][0].text == f"[MASK] was {BACKEND.id_to_token(9)}"
    assert first.line() == ", ".join(f"{one.token} {one.probability:.3f}" for one in first.masks[0])


def test_a_text_without_mask_is_rejected():
    with pytest.raises(ValueError, match="has no mask; write ___"):
        fill().check("the film was dull")
    with pytest.raises(InputError, match="no mask among its first 6 tokens"):
        fill().encode(["the film was very dull and ___"], BACKEND, 6)


def test_models_without_masks_are_rejected():
    with pytest.raises(InputError, match="niwaki sample"):
        fill("causal")
    with pytest.raises(InputError, match="has no mask token"):
        Fill.of(Likelihood(), BACKEND, 100, 5)
