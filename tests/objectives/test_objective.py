"""The interface of objectives, with an objective that is defined here: tokens are replaced, and the score is the mean loss."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.objectives._objective import Objective
from niwaki.tasks.classification import Classification
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.loop import Job, fit
from niwaki.train.settings import TrainSettings
from niwaki.train.validation import ModelValidation

CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("quick_disk")


class Noisy(Objective):
    """Hides a third of the tokens behind the token 0."""

    @property
    def head(self):
        return self.task.head

    def features(self, rows, tokenizer, max_tokens=None):
        return self.task.features(rows, tokenizer, max_tokens)

    def batch(self, batch, generator):
        ids = batch.inputs["input_ids"]
        hidden = torch.rand(ids.shape, generator=generator) < 1 / 3
        return replace(batch, inputs={**batch.inputs, "input_ids": ids.masked_fill(hidden, 0)})

    def loss(self, outputs, batch):
        return self.task.criterion.loss(outputs.logits.float(), batch)

    def score(self, validation):
        losses = [(self.loss(outputs, batch).item(), len(batch.rows)) for outputs, batch in validation.passes(self)]
        values, rows = zip(*losses, strict=True)
        return -float(np.average(values, weights=rows))


@pytest.fixture
def task(rows_csv):
    return Classification(path=str(rows_csv))


def trained(task, folder):
    torch.manual_seed(0)
    model, objective = tiny.model("bert", layers=1, labels=task.labels), Noisy(task)
    train, validation = (
        Collator(encode_rows(model, objective, task.splits()[part]), model, CPU) for part in ("train", "validation")
    )
    settings = TrainSettings(epochs=2, batch=16, lr=3e-3, validations=2)
    context = Context(0, None, None, None, None, objective.soft_loss, None)
    state = fit(Job("x", model, [], context, objective, train, validation, settings, "fp32", 7, folder, lambda: False))
    return model, state, ModelValidation(model, validation, "fp32", 7)


def test_training_uses_the_batches_loss_and_score_of_the_objective(task, tmp_path):
    _, state, validation = trained(task, tmp_path)
    scores = [record["score"] for record in state.history if record["kind"] == "validation"]
    assert scores[0] < max(scores) < 0 and state.best_score == max(scores)
    assert Noisy(task).score(validation) == pytest.approx(state.best_score, abs=1e-6)  # the same noise every time


def test_noise_follows_from_the_seed_and_the_step(task, tmp_path):
    first, second = (trained(task, tmp_path / name)[0].network.state_dict() for name in ("a", "b"))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_an_objective_without_a_soft_loss_says_so(task):
    with pytest.raises(InputError, match=r"train\.objective: 'test_objective' defines no loss between logits"):
        Noisy(task).soft_loss(torch.zeros(1, 2), torch.zeros(1, 2), None, 1.0)
