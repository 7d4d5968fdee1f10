"""What heads read: equal to the forward pass of the text alone, whatever else is read in the same pass."""

import pytest
import torch

from engines.kinds import model_of
from niwaki.models.forward import run
from niwaki.models.pooling import pool
from niwaki.models.readings import FIRST, LAYERS, TOKENS, encode, head_logits, logits_of_final, reading_of


def one_text(model):
    ids = torch.tensor([model.tokenizer.encode("the good film was a bad plot")])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}


@pytest.mark.parametrize("kind", ["label", "tags", "number"])
@pytest.mark.parametrize("others", [set(), {FIRST, TOKENS, LAYERS, "mean"}])
def test_logits_have_the_bits_of_the_forward_pass(kind, others):
    model = model_of(kind)
    reading = reading_of(model.anatomy)
    assert reading == (TOKENS if kind == "tags" else FIRST)
    with torch.inference_mode():
        found = encode(model.anatomy, one_text(model), {reading, *others})
        logits = head_logits(model.anatomy, found[reading])
        expected = run(model.anatomy, one_text(model), {})
    assert torch.equal(logits, expected[0] if kind == "tags" else expected)


def test_readings_agree_with_each_other():
    model = model_of("label")
    with torch.inference_mode():
        found = encode(model.anatomy, one_text(model), {FIRST, TOKENS, LAYERS, "mean"})
    tokens = found[TOKENS]
    assert torch.equal(found[LAYERS][-1], tokens) and found[LAYERS].shape == (3, *tokens.shape)
    torch.testing.assert_close(found[FIRST], tokens[:1])
    assert torch.equal(found["mean"], pool(tokens[None], torch.ones(1, len(tokens)), "mean"))


def test_heads_of_a_batch_read_its_last_states():
    model, rows = model_of("label"), torch.randn(4, 5, 32)
    expected = torch.cat([head_logits(model.anatomy, one[:1]) for one in rows])
    torch.testing.assert_close(logits_of_final(model.anatomy, rows, torch.ones(4, 5)), expected)


def test_heads_that_predict_tokens_of_the_text_are_not_separated():
    assert reading_of(model_of("likelihood").anatomy) is None
