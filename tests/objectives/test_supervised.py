"""Supervised learning: head, features, loss and score are the task's."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.models.forward import Outputs, forward
from niwaki.objectives import OBJECTIVES
from niwaki.objectives._objective import Objective
from niwaki.objectives.supervised import Supervised
from niwaki.tasks.classification import Classification
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.validation import ModelValidation

CPU = torch.device("cpu")


@pytest.fixture
def task(rows_csv):
    return Classification(path=str(rows_csv))


@pytest.fixture
def collator(task):
    model = tiny.model("bert", layers=1, labels=task.labels)
    return Collator(encode_rows(model, Supervised(task), task.splits()["validation"]), model, CPU), model


def test_supervised_is_in_the_catalogue():
    assert OBJECTIVES.load("supervised", Objective) is Supervised and "supervised" in OBJECTIVES.names()


def test_features_and_head_are_those_of_the_task(task, collator):
    expected = task.features(task.splits()["validation"], collator[1].tokenizer.backend_tokenizer, 64)
    assert np.array_equal(collator[0].features.rows.ids.values, expected.rows.ids.values)
    assert Supervised(task).head is task.head


def test_loss_is_cross_entropy_against_the_labels(task, collator):
    batch = collator[0].batch([0, 1, 2])
    logits = torch.randn(3, 2, dtype=torch.bfloat16, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.cross_entropy(logits.float(), batch.targets)
    torch.testing.assert_close(Supervised(task).loss(Outputs(logits), batch), expected)


def test_batches_are_unchanged(task, collator):
    batch = collator[0].batch([0, 1])
    assert Supervised(task).batch(batch, torch.Generator()) is batch


def test_score_and_errors_are_those_of_the_validation_rows(task, collator):
    feed, model = collator
    batch = feed.batch(range(len(feed.features)))
    with torch.no_grad():
        predicted = forward(model.anatomy, batch).logits.argmax(dim=1)
    validation = ModelValidation(model, feed, "fp32", 0)
    right = (predicted == batch.targets).float()
    assert Supervised(task).score(validation) == pytest.approx(right.mean().item())
    assert Supervised(task).errors(validation).tolist() == (1 - right).tolist()
