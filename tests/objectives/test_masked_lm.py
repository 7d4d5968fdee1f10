"""Masked language modeling: losses as transformers computes them, and the mask token that it needs."""

import pytest
import torch
from torch import nn

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL, forward
from niwaki.objectives._factory import make_objective
from niwaki.tasks.language_modeling import LanguageModeling

from .predicting import corrupted


@pytest.mark.parametrize("family", tiny.ENCODING)
@torch.no_grad()
def test_masked_loss_equals_transformers(family):
    model, objective, before, after = corrupted("masked_lm", family)
    labels = torch.where(after.predicted, before.inputs["input_ids"], NO_LABEL)
    wanted = model.network(**after.inputs, labels=labels).loss
    found = objective.loss(forward(model.anatomy, after), after)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    assert int(after.predicted.sum()) >= len(before.mask)


@torch.no_grad()
def test_masked_loss_is_that_of_bert_for_pretraining():
    from transformers import BertForPreTraining

    model, objective, before, after = corrupted("masked_lm")
    reference = BertForPreTraining(model.network.config).eval()
    reference.load_state_dict(model.network.state_dict(), strict=False)
    labels = torch.where(after.predicted, before.inputs["input_ids"], NO_LABEL)
    logits = reference(**after.inputs).prediction_logits
    wanted = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(objective.loss(forward(model.anatomy, after), after), wanted, atol=1e-5, rtol=0)


def test_a_tokenizer_without_mask_token_is_rejected():
    model = tiny.model("bert", layers=1, head="MaskedLM", labels=[])
    model.tokenizer.mask_token = None
    with pytest.raises(InputError, match="has no mask token; take 'causal_lm'"):
        make_objective("masked_lm", LanguageModeling()).prepare(model)
