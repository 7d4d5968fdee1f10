"""Bidirectional language modeling: the loss and the score of a text by hand, and the networks that it fits."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

import tiny
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError
from niwaki.models.forward import forward
from niwaki.objectives.bidirectional_lm import both_ways

from .predicting import corrupted, prepared


def test_the_loss_is_the_mean_of_both_directions():
    """Two words. Forward: 1/2 and 3/4; backward: 1/4 and 1."""
    logits = torch.tensor([[0, 0, 0, math.log(3)], [0, math.log(3), -50.0, 50.0]])
    found = both_ways(logits, torch.tensor([0, 1]))
    assert found.item() == pytest.approx(-(math.log(1 / 2) + math.log(3 / 4) + math.log(1 / 4) + 0) / 4)
    assert both_ways(torch.zeros(0, 4), torch.zeros(0, dtype=torch.long)).item() == 0


@torch.no_grad()
def test_the_loss_of_a_batch_is_that_of_its_logits():
    model, objective, before, after = corrupted("bidirectional_lm", "bilstm_lm")
    every, words, total, count = forward(model.anatomy, before).logits, len(model.tokenizer), 0.0, 0
    special = {model.tokenizer.cls_token_id, model.tokenizer.sep_token_id}
    for row, ids in enumerate(before.inputs["input_ids"].tolist()):
        for place in range(1, int(before.mask[row].sum())):
            if ids[place] not in special:
                for half in every[row, place - 1].split(words):
                    total, count = total - functional.log_softmax(half, dim=0)[ids[place]].item(), count + 1
    assert objective.loss(forward(model.anatomy, after), after).item() == pytest.approx(total / count, rel=1e-5)


def test_a_text_is_scored_by_the_mean_of_both_log_likelihoods():
    tokenizer = tiny.tokenizer().backend_tokenizer
    answer = Likelihood(scoring="bidirectional")
    rows = answer.encode(["the film"], tokenizer, 20)  # [CLS] the film [SEP]
    the, film = (tokenizer.token_to_id(word) for word in ("the", "film"))
    words = tokenizer.get_vocab_size()
    logits = np.random.default_rng(0).normal(size=(4, 2 * words)).astype(np.float32)
    halves = torch.from_numpy(logits).view(4, 2, words).log_softmax(-1)
    wanted = float(sum(halves[place, half, token] for half in (0, 1) for place, token in ((0, the), (1, film)))) / 2
    found = answer.reduce(logits, rows, np.array([0]))
    assert found[0, 0] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    "objective, family, problem",
    [
        ("bidirectional_lm", "lstm_lm", "family 'lstm_lm' predict in 1 direction"),
        ("bidirectional_lm", "bert", "family 'bert' predict in 1 direction"),
        ("causal_lm", "bilstm_lm", "family 'bilstm_lm' predict in 2 direction.* take 'bidirectional_lm'"),
        ("masked_lm", "lstm_lm", "family 'lstm_lm' are always causal; take 'causal_lm'"),
    ],
)
def test_networks_that_do_not_fit_are_rejected(objective, family, problem):
    with pytest.raises(InputError, match=problem):
        prepared(objective, family)
