"""Contrastive tuning of embeddings: texts with the same label become similar, others dissimilar.

As in SetFit (Tunstall et al. 2022, arXiv 2209.11055): mean squared error between the cosine of two embeddings and 1 (same label) or 0 (other
label). An epoch has every pair once, and the rarer kind is repeated until there are as many pairs of both kinds. The head is not trained;
`linear_head` fits it afterwards.
"""

from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from niwaki.core.seeds import numpy_generator
from niwaki.core.settings import Settings, setting
from niwaki.models.features import Features
from niwaki.models.forward import Batch, Outputs
from niwaki.models.pooling import normalized
from niwaki.models.record import POOLED
from niwaki.objectives._objective import ComparesRows, Objective, Validation

MOST_TEXTS = 1000  # whose pairs are listed for an epoch


class ContrastiveSettings(Settings):
    pairs: Literal["sampled", "batch"] = setting(
        "sampled",
        "`sampled` passes over pairs of texts, half of them with the same label; `batch` passes over texts and compares all pairs of a step",
    )
    max_pairs: int = setting(2048, "maximum number of sampled pairs in an epoch", ge=2, le=500_000)


class Contrastive(ComparesRows, Objective):
    settings: ClassVar[type[Settings]] = ContrastiveSettings
    activations: ClassVar[frozenset[str]] = frozenset({POOLED})
    trains_head: ClassVar[bool] = False
    version: ClassVar[int] = 3

    def batches(self, features: Features, size: int, seed: int, epoch: int) -> list[np.ndarray]:
        """Of `size` rows. Sampled pairs take two rows each: the first texts of all pairs of a batch, then the second ones."""
        assert isinstance(self.chosen, ContrastiveSettings)
        generator, count = numpy_generator(seed, "pairs", epoch), len(features)
        if self.chosen.pairs == "batch":
            order = generator.permutation(count)
            return [order[start : start + size] for start in range(0, count, size)]
        texts = generator.permutation(count)[:MOST_TEXTS]
        pairs = texts[sample_pairs(np.asarray(features.targets)[texts], self.chosen.max_pairs, generator)]
        step = max(1, size // 2)
        return [pairs[start : start + step].T.reshape(-1) for start in range(0, len(pairs), step)]

    def rows_per_epoch(self, rows: int) -> int:
        assert isinstance(self.chosen, ContrastiveSettings)
        return rows if self.chosen.pairs == "batch" else 2 * min(self.chosen.max_pairs, rows * (rows + 1))

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        assert isinstance(self.chosen, ContrastiveSettings)
        loss = sampled_loss if self.chosen.pairs == "sampled" else all_pairs_loss
        return loss(outputs.pooled[0].float(), batch.targets)

    def score(self, validation: Validation) -> float:
        """The negative mean loss of all pairs of a batch."""
        found = [all_pairs_loss(out.pooled[0].float(), batch.targets) for out, batch in validation.passes(self)]
        return -float(np.mean([loss.item() for loss in found]))


def sample_pairs(labels: np.ndarray, most: int, generator: np.random.Generator) -> np.ndarray:
    """Places of texts, (pairs, 2): as many pairs with the same label as with others, in random order. A text is also paired with
    itself, as in SetFit, which differs by dropout."""
    pairs = generator.permutation(np.stack(np.triu_indices(len(labels)), axis=1))
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    kinds = [kind for kind in (pairs[same], pairs[~same]) if len(kind)]
    each = min(max(map(len, kinds)), max(1, most // 2))
    return generator.permutation(np.concatenate([np.resize(kind, (each, 2)) for kind in kinds]))


def sampled_loss(vectors: Tensor, labels: Tensor) -> Tensor:
    """Vectors (2 × pairs, hidden) and labels (2 × pairs,), the first texts of all pairs and then the second ones, to a scalar."""
    embeddings, pairs = normalized(vectors), len(labels) // 2
    first, second = embeddings[:pairs], embeddings[pairs : 2 * pairs]
    wanted = (labels[:pairs] == labels[pairs : 2 * pairs]).to(embeddings.dtype)
    return ((first * second).sum(dim=-1) - wanted).square().sum() / max(1, pairs)


def all_pairs_loss(vectors: Tensor, labels: Tensor) -> Tensor:
    """Vectors (batch, hidden) and labels (batch,) to a scalar: the mean over pairs with the same label plus that over the others."""
    embeddings = normalized(vectors)
    wanted = (labels[:, None] == labels[None]).to(embeddings.dtype)  # (batch, batch)
    errors = (embeddings @ embeddings.T - wanted) ** 2
    pairs = 1 - torch.eye(len(labels), dtype=errors.dtype, device=errors.device)
    kinds = (pairs * wanted, pairs * (1 - wanted))
    return sum(((errors * kind).sum() / kind.sum().clamp(min=1) for kind in kinds), errors.new_zeros(()))
