"""Masked next-token prediction: where tokens are predicted, the share of causal batches, and how the saved model scores."""

import numpy as np
import pytest
import torch

import tiny

from .predicting import corrupted, generator, prepared


def test_masked_next_tokens_are_predicted_at_the_place_before():
    _, _, before, after = corrupted({"use": "masked_next_token", "causal": 0.0, "masked": 1.0, "random": 0.0})
    ids, noisy = before.inputs["input_ids"], after.inputs["input_ids"]
    hidden = noisy != ids
    assert hidden.any() and not after.causal
    assert torch.equal(after.predicted[:, :-1], hidden[:, 1:]) and not after.predicted[:, -1].any()
    assert torch.equal(after.targets[after.predicted], ids[hidden])


def test_the_share_of_causal_batches_is_as_set():
    _, objective = prepared({"use": "masked_next_token", "causal": 0.75})
    batch = tiny.batch(tiny.model("bert", layers=1))
    share = np.mean([objective.batch(batch, generator(seed)).causal for seed in range(400)])
    assert share == pytest.approx(0.75, abs=0.06)


@pytest.mark.parametrize("deploy, causal", [("causal", True), ("masked_next", False)])
def test_the_config_states_how_texts_are_scored(deploy, causal):
    model, _ = prepared({"use": "masked_next_token", "deploy": deploy})
    answer = model.network.config.niwaki_answer
    assert model.anatomy.is_causal == causal
    assert answer["kind"] == "likelihood" and answer["scoring"] == deploy
    assert answer["mask_token_id"] == model.tokenizer.mask_token_id
