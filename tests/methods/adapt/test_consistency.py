"""The divergence between two passes, for every way that answers are read from logits."""

from dataclasses import replace
from math import log

import pytest
import torch

from calibrated import CONTEXT, drawn
from niwaki.methods.adapt._consistency import symmetric_divergence
from niwaki.models.criteria import (
    BinaryCrossEntropy,
    ChoiceCrossEntropy,
    CrossEntropy,
    SpanCrossEntropy,
    SquaredError,
    TokenCrossEntropy,
)
from niwaki.models.forward import Batch

BATCH = Batch({"attention_mask": torch.tensor([[1, 1, 1], [1, 1, 0]])}, torch.zeros(2), torch.arange(2))
SHAPES = {  # criterion → logits, targets
    CrossEntropy: ((2, 4), torch.zeros(2, dtype=torch.long)),
    BinaryCrossEntropy: ((2, 4), torch.zeros(2, 4)),
    SquaredError: ((2, 1), torch.zeros(2)),
    ChoiceCrossEntropy: ((6, 1), torch.zeros(2, dtype=torch.long)),
    TokenCrossEntropy: ((2, 3, 5), torch.tensor([[1, 2, 3], [0, 1, -100]])),
    SpanCrossEntropy: ((2, 3, 2), torch.tensor([[0, 1], [1, 1]])),
}


def test_two_distributions_by_hand():
    """p = (½, ½) and q = (¾, ¼)."""
    context = replace(CONTEXT, soft_loss=CrossEntropy().soft_loss)
    p_from_q = 0.5 * log(0.5 / 0.75) + 0.5 * log(0.5 / 0.25)
    q_from_p = 0.75 * log(0.75 / 0.5) + 0.25 * log(0.25 / 0.5)
    found = symmetric_divergence(torch.zeros(1, 2), torch.tensor([[log(3.0), 0.0]]), BATCH, context)
    assert float(found) == pytest.approx((p_from_q + q_from_p) / 2, rel=1e-5)


@pytest.mark.parametrize("kind", SHAPES, ids=lambda kind: kind.__name__)
def test_every_criterion_is_symmetric_and_has_gradients_for_both(kind):
    shape, targets = SHAPES[kind]
    batch, context = replace(BATCH, targets=targets), replace(CONTEXT, soft_loss=kind().soft_loss)
    one, other = (drawn(*shape, seed=seed).requires_grad_(True) for seed in (1, 2))
    found = symmetric_divergence(one, other, batch, context)
    assert float(found.detach()) > 0
    assert torch.allclose(found, symmetric_divergence(other, one, batch, context))
    assert float(symmetric_divergence(one, one, batch, context).detach()) == pytest.approx(0, abs=1e-6)
    for gradient in torch.autograd.grad(found, [one, other]):
        assert torch.isfinite(gradient).all() and gradient.abs().sum() > 0
