"""Weights of labels and the focal loss, by hand and against torch."""

from math import log

import pyarrow as pa
import pytest
import torch
from torch.nn import functional

import tiny
from calibrated import CONTEXT, drawn
from niwaki.core.errors import InputError
from niwaki.core.settings import check
from niwaki.methods.adapt.class_weights import (
    ClassWeights,
    label_weights,
    positive_weights,
    weighted_binary,
    weighted_cross_entropy,
)
from niwaki.models.criteria import BinaryCrossEntropy, CrossEntropy
from niwaki.models.forward import NO_LABEL, Batch, Outputs

COUNTS = torch.tensor([1, 9])


def test_weights_by_hand():
    assert torch.allclose(label_weights(COUNTS, 10, 1.0), torch.tensor([5.0, 5 / 9]))
    half = label_weights(COUNTS, 10, 0.5)  # in the ratio 3 : 1, and 1 × w₀ + 9 × w₁ = 10
    assert torch.allclose(half, torch.tensor([2.5, 2.5 / 3]))
    assert torch.equal(label_weights(COUNTS, 10, 0.0), torch.ones(2))
    assert torch.allclose(positive_weights(COUNTS, 10, 1.0), torch.tensor([9.0, 1 / 9]))
    assert torch.allclose(positive_weights(COUNTS, 10, 0.5), torch.tensor([3.0, 1 / 3]))


def test_focal_cross_entropy_by_hand():
    """The right label has probability ¾ in the first row, ¼ in the second; the third has no label."""
    logits = torch.tensor([[log(3.0), 0.0], [log(3.0), 0.0], [5.0, 0.0]])
    found = weighted_cross_entropy(logits, torch.tensor([0, 1, NO_LABEL]), torch.tensor([2.0, 1.0]), 2.0)
    expected = (2 * (1 / 4) ** 2 * -log(3 / 4) + (3 / 4) ** 2 * -log(1 / 4)) / 2
    assert float(found) == pytest.approx(expected)


def test_focal_binary_loss_by_hand():
    """Both labels have probability ¾; the row has the first and not the second."""
    logits = torch.full((1, 2), log(3.0))
    found = weighted_binary(logits, torch.tensor([[1.0, 0.0]]), torch.tensor([2.0, 7.0]), 1.0)
    assert float(found) == pytest.approx(2 * (1 / 4) * -log(3 / 4) + (3 / 4) * -log(1 / 4))


def test_without_weights_and_gamma_they_are_the_losses_of_the_tasks():
    logits, ones = drawn(5, 4), torch.ones(4)
    single = Batch({}, torch.tensor([0, 3, NO_LABEL, 1, 1]), torch.arange(5))
    several = Batch({}, (drawn(5, 4, seed=1) > 0).float(), torch.arange(5))
    several.targets[2] = NO_LABEL
    assert torch.allclose(
        weighted_cross_entropy(logits, single.targets, ones, 0.0), CrossEntropy().loss(logits, single)
    )
    assert torch.allclose(
        weighted_binary(logits, several.targets, ones, 0.0), BinaryCrossEntropy().loss(logits, several)
    )


def test_positive_weights_are_those_of_torch():
    logits, targets, weights = drawn(6, 3), (drawn(6, 3, seed=1) > 0).float(), torch.tensor([2.0, 0.5, 9.0])
    theirs = functional.binary_cross_entropy_with_logits(logits, targets, pos_weight=weights, reduction="sum") / 6
    assert torch.allclose(weighted_binary(logits, targets, weights, 0.0), theirs)


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_gradients_are_finite_for_certain_answers(gamma):
    logits = torch.tensor([[80.0, -80.0], [-80.0, 80.0]], requires_grad=True)
    weighted_cross_entropy(logits, torch.tensor([0, 0]), torch.ones(2), gamma).backward()
    assert torch.isfinite(logits.grad).all()
    logits.grad = None
    weighted_binary(logits, torch.tensor([[1.0, 1.0], [0.0, 0.0]]), torch.ones(2), gamma).backward()
    assert torch.isfinite(logits.grad).all()


def counted(labels, **settings) -> ClassWeights:
    method, rows = ClassWeights(**settings), pa.table({"text": ["a"] * len(labels), "label": labels})
    assert method.rows(rows, lambda rows: rows) is rows
    return method


def test_the_training_rows_decide_the_weights():
    model = tiny.model("bert", labels=["no", "yes", "never"])
    model.network.config.problem_type = "single_label_classification"
    batch = Batch({}, torch.tensor([1, 0]), torch.arange(2))
    found = counted(["yes"] * 9 + ["no"]).loss(model, batch, Outputs(torch.zeros(2, 3)), torch.tensor(7.0), CONTEXT)
    weights = label_weights(torch.tensor([1, 9, 0]), 10, 1.0)
    assert weights[:2].tolist() == pytest.approx([5, 5 / 9])
    assert float(found) == pytest.approx((5 + 5 / 9) / 2 * log(3))
    model.network.config.problem_type = "multi_label_classification"
    batch = Batch({}, torch.tensor([[0.0, 1.0, 0.0]]), torch.arange(1))
    lists = pa.array([["yes"], ["yes", "no"], [], []], pa.list_(pa.string()))
    found = counted(lists).loss(model, batch, Outputs(torch.zeros(1, 3)), torch.tensor(7.0), CONTEXT)
    assert float(found) == pytest.approx(3 * log(2))  # 'yes' is in half of the rows, so that its positives weigh 1


def test_impossible_settings_and_tasks_are_rejected():
    with pytest.raises(InputError, match="exponent and gamma are both 0"):
        check(ClassWeights, {"exponent": 0})
    model = tiny.model("bert", head="TokenClassification")
    model.network.config.problem_type = None
    with pytest.raises(InputError, match="labels of whole texts"):
        ClassWeights().prepare(model, CONTEXT)
