"""Causal language modeling: places and targets by hand, losses as transformers computes them, families that can be causal."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL, forward
from niwaki.objectives._masking import Vocabulary
from niwaki.objectives.causal_lm import causal_batch

from .predicting import corrupted, prepared


def test_every_ordinary_token_is_predicted_at_the_place_before_it():
    ids = torch.tensor([[1, 7, 8, 2, 0], [1, 9, 7, 8, 2]])  # 0 to 2 are special, and 0 is padding
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    no_words = np.zeros(10, dtype=bool)
    vocabulary = Vocabulary(-1, np.arange(10) < 3, no_words, no_words, np.arange(3, 10))
    given = replace(tiny.batch(tiny.model("bert", layers=1)), inputs={"input_ids": ids, "attention_mask": mask})
    found = causal_batch(given, vocabulary)
    assert found.causal and torch.equal(found.inputs["input_ids"], ids)
    assert found.predicted.int().tolist() == [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]
    assert found.targets[found.predicted].tolist() == [7, 8, 9, 7, 8]


@pytest.mark.parametrize("family", ["bert", "electra", "roberta"])
@torch.no_grad()
def test_causal_loss_equals_transformers(family):
    from transformers import AutoModelForCausalLM

    model, objective, before, after = corrupted("causal_lm", family)
    assert model.network.config.is_decoder
    reference = AutoModelForCausalLM.from_config(model.network.config, attn_implementation="eager").eval()
    reference.load_state_dict(
        model.network.state_dict(), strict=False
    )  # the table and the bias have further names there
    ids, special = before.inputs["input_ids"], [model.tokenizer.cls_token_id, model.tokenizer.sep_token_id]
    scored = before.mask.bool() & ~torch.isin(ids, torch.tensor(special))
    wanted = reference(**before.inputs, labels=torch.where(scored, ids, NO_LABEL)).loss
    torch.testing.assert_close(objective.loss(forward(model.anatomy, after), after), wanted, atol=1e-5, rtol=0)


def test_a_family_that_cannot_be_causal_is_rejected():
    with pytest.raises(InputError, match="family 'distilbert' cannot be causal"):
        prepared("causal_lm", "distilbert")
