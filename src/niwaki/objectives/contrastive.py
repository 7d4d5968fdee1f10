"""Contrastive tuning of embeddings: texts with the same label become similar, others dissimilar.

Every text of a batch is encoded once, and all pairs of the batch are compared: mean squared error between the cosine of two embeddings and 1
(same label) or 0 (other label), where both kinds of pairs count the same. As in SetFit (Tunstall et al. 2022, arXiv 2209.11055), which encodes both texts of each
pair. The head is not trained; `linear_head` fits it afterwards.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from niwaki.models.forward import Batch, Outputs
from niwaki.models.pooling import normalized
from niwaki.models.record import POOLED
from niwaki.objectives._objective import Objective, Validation


class Contrastive(Objective):
    activations: ClassVar[frozenset[str]] = frozenset({POOLED})
    trains_head: ClassVar[bool] = False

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        return pair_loss(outputs.pooled[0].float(), batch.targets)

    def score(self, validation: Validation) -> float:
        """The negative mean loss."""
        return -float(np.mean([self.loss(outputs, batch).item() for outputs, batch in validation.passes(self)]))


def pair_loss(vectors: Tensor, labels: Tensor) -> Tensor:
    """Vectors (batch, hidden) and labels (batch,) to a scalar. A batch without pairs of a kind has no loss for that kind."""
    embeddings = normalized(vectors)
    wanted = (labels[:, None] == labels[None]).to(embeddings.dtype)  # (batch, batch)
    errors = (embeddings @ embeddings.T - wanted) ** 2
    pairs = 1 - torch.eye(len(labels), dtype=errors.dtype, device=errors.device)
    kinds = (pairs * wanted, pairs * (1 - wanted))
    return sum(((errors * kind).sum() / kind.sum().clamp(min=1) for kind in kinds), errors.new_zeros(()))
