"""Shared by the methods that compare two passes of the same network over the same batch."""

from torch import Tensor

from niwaki.methods._method import Context
from niwaki.models.forward import Batch


def symmetric_divergence(one: Tensor, other: Tensor, batch: Batch, context: Context) -> Tensor:
    """Mean of KL(one ‖ other) and KL(other ‖ one) of the answers; for numbers, their squared difference. Gradients reach both."""
    return (context.soft_loss(one, other, batch, 1.0) + context.soft_loss(other, one, batch, 1.0)) / 2
