"""The interface of objectives, with an objective that is defined here: tokens are replaced, and the score is the mean loss."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.models.record import FINAL
from niwaki.objectives._objective import Objective
from niwaki.tasks.classification import Classification
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.loop import Interrupted, Job, fit
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


class Helped(Noisy):
    """Another head, next to the network, learns to recognise the token 0."""

    activations = frozenset({FINAL})

    def prepare(self, model, seed=0):
        torch.manual_seed(seed)
        self.helpers = nn.Sequential(nn.Dropout(0.3), nn.Linear(model.anatomy.hidden_size, 1))

    def batch(self, batch, generator):
        noisy = super().batch(batch, generator)
        return replace(noisy, notes={"hidden": (noisy.inputs["input_ids"] == 0).float()})

    def loss(self, outputs, batch):
        logits = self.helpers(outputs.final[0].float())[..., 0]
        extra = nn.functional.binary_cross_entropy_with_logits(logits, batch.notes["hidden"], batch.mask.float())
        return super().loss(outputs, batch) + extra


def trained(task, folder, kind=Noisy, stops=()):
    torch.manual_seed(0)
    model, objective, done = tiny.model("bert", layers=1, labels=task.labels), kind(task), iter(range(10_000))
    objective.prepare(model, 5)
    train, validation = (
        Collator(encode_rows(model, objective, task.splits()[part]), model, CPU) for part in ("train", "validation")
    )
    settings = TrainSettings(epochs=2, batch=16, lr=3e-3, validations=2)
    context = Context(0, None, None, None, None, objective.soft_loss, None)
    job = Job(
        "x", model, [], context, objective, train, validation, settings, "fp32", 7, folder, lambda: next(done) in stops
    )
    return model, fit(job), ModelValidation(model, validation, "fp32", 7), objective


def test_training_uses_the_batches_loss_and_score_of_the_objective(task, tmp_path):
    _, state, validation, _ = trained(task, tmp_path)
    scores = [record["score"] for record in state.history if record["kind"] == "validation"]
    assert scores[0] < max(scores) < 0 and state.best_score == max(scores)
    assert Noisy(task).score(validation) == pytest.approx(state.best_score, abs=1e-6)  # the same noise every time


def test_noise_follows_from_the_seed_and_the_step(task, tmp_path):
    first, second = (trained(task, tmp_path / name)[0].network.state_dict() for name in ("a", "b"))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_an_objective_without_a_soft_loss_says_so(task):
    with pytest.raises(InputError, match=r"train\.objective: 'test_objective' defines no loss between logits"):
        Noisy(task).soft_loss(torch.zeros(1, 2), torch.zeros(1, 2), None, 1.0)


def test_helpers_are_trained_with_the_network_and_validated_without_dropout(task, tmp_path):
    model, state, validation, objective = trained(task, tmp_path, Helped)
    torch.manual_seed(5)
    start = nn.Linear(model.anatomy.hidden_size, 1).weight
    assert not torch.equal(objective.helpers[1].weight, start)
    assert objective.score(validation) == objective.score(validation)
    assert not any(name.startswith("objective") or "helpers" in name for name in model.network.state_dict())
    losses = [record["loss"] for record in state.history if record["kind"] == "step"]
    assert losses[-1] < losses[0]


def test_a_resumed_training_continues_with_the_helpers_of_the_checkpoint(task, tmp_path):
    whole, _, _, first = trained(task, tmp_path / "whole", Helped)
    for stop in (3, 2):
        with pytest.raises(Interrupted):
            trained(task, tmp_path / "stopped", Helped, stops=(stop,))
    resumed, _, _, second = trained(task, tmp_path / "stopped", Helped)
    for one, two in ((whole.network, resumed.network), (first.helpers, second.helpers)):
        assert all(torch.equal(value, two.state_dict()[name]) for name, value in one.state_dict().items())
