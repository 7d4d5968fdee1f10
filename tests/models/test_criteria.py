"""Training losses against values computed by hand."""

import math

import pytest
import torch

from niwaki.models.criteria import (
    MASKED_LOGIT,
    BinaryCrossEntropy,
    ChoiceCrossEntropy,
    CrossEntropy,
    SpanCrossEntropy,
    SquaredError,
    TokenCrossEntropy,
    over_tokens,
)
from niwaki.models.forward import NO_LABEL, Batch


def batch(targets, mask=None):
    targets = torch.tensor(targets)
    inputs = {} if mask is None else {"attention_mask": torch.tensor(mask)}
    return Batch(inputs, targets, torch.arange(len(targets)))


def test_rows_without_a_label_do_not_count_in_cross_entropy():
    logits = torch.tensor([[0.0, math.log(3)], [7.0, -7.0]])
    assert CrossEntropy().loss(logits, batch([1, NO_LABEL])).item() == pytest.approx(-math.log(3 / 4), rel=1e-5)


def test_class_weights_multiply_the_loss_of_their_class():
    logits, weights = torch.zeros(2, 2), torch.tensor([1.0, 3.0])
    assert CrossEntropy(weights).loss(logits, batch([0, 1])).item() == pytest.approx((1 + 3) * math.log(2) / 2)


def test_binary_losses_are_summed_over_labels_and_averaged_over_rows():
    targets = [[1.0, 0.0], [float(NO_LABEL), float(NO_LABEL)]]
    assert BinaryCrossEntropy().loss(torch.zeros(2, 2), batch(targets)).item() == pytest.approx(2 * math.log(2))


def test_squared_error_skips_rows_without_a_number():
    logits = torch.tensor([[2.0], [9.0], [1.0]])
    assert SquaredError().loss(logits, batch([0.0, float(NO_LABEL), 2.0])).item() == pytest.approx((4 + 1) / 2)


def test_choices_of_a_row_compete():
    logits = torch.tensor([[0.0], [math.log(3)], [5.0], [5.0]])
    wanted = (-math.log(3 / 4) + math.log(2)) / 2
    assert ChoiceCrossEntropy().loss(logits, batch([1, 0])).item() == pytest.approx(wanted, rel=1e-5)


def test_tokens_without_a_label_do_not_count():
    logits = torch.tensor([[[0.0, math.log(3)], [9.0, 0.0]]])
    assert TokenCrossEntropy().loss(logits, batch([[1, NO_LABEL]])).item() == pytest.approx(-math.log(3 / 4), rel=1e-5)


def test_padding_cannot_be_part_of_a_span():
    given = batch([[1, 1]], mask=[[1, 1, 0]])
    logits = torch.tensor([[[0.0, 0.0], [math.log(3), 0.0], [50.0, 50.0]]])
    assert (over_tokens(logits, given)[..., 2] == MASKED_LOGIT).all()
    wanted = (-math.log(3 / 4) - math.log(1 / 2)) / 2
    assert SpanCrossEntropy().loss(logits, given).item() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    ("criterion", "shape", "targets"),
    [
        (CrossEntropy(), (2, 3), [NO_LABEL] * 2),
        (BinaryCrossEntropy(), (2, 3), [[float(NO_LABEL)] * 3] * 2),
        (SquaredError(), (2, 1), [float(NO_LABEL)] * 2),
        (TokenCrossEntropy(), (2, 4, 3), [[NO_LABEL] * 4] * 2),
    ],
)
def test_batch_without_labels_has_zero_loss_and_gradient(criterion, shape, targets):
    logits = torch.randn(shape, generator=torch.Generator().manual_seed(0), requires_grad=True)
    loss = criterion.loss(logits, batch(targets))
    loss.backward()
    assert loss.item() == 0 and not logits.grad.any()
