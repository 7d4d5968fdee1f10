"""Logits for pairs of texts from the embeddings of both: one matrix on [u, v, |u − v|, u · v] and the cosine (Reimers, Gurevych 2019)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from niwaki.core.settings import Settings, setting
from niwaki.models.parts.heads._head import TaskHead
from niwaki.models.pooling import normalized
from niwaki.models.sentence_modules import PoolingMode


class PairSettings(Settings):
    mode: PoolingMode = setting("mean", "how tokens are pooled")
    dropout: float = setting(0.0, "share of features dropped while training", ge=0, lt=1)


class Pair(TaskHead, nn.Module):
    """Each text is encoded by itself. `edits/replace_part.py` puts it into a network; the tokenizer must keep texts apart (`models/pairs.py`)."""

    no_native = "it reads the embeddings of two texts"
    architecture = "SequenceClassification"
    settings = PairSettings

    def __init__(self, hidden_size: int, labels: int, settings: PairSettings) -> None:
        nn.Module.__init__(self)
        self.mode = settings.mode
        self.dropout = nn.Dropout(settings.dropout)
        self.linear = nn.Linear(4 * hidden_size + 1, labels)
        nn.init.zeros_(self.linear.weight)

    @property
    def pooling(self) -> str:
        return self.mode

    @property
    def pools(self) -> bool:
        return True

    @property
    def splits_pairs(self) -> bool:
        return True

    def final_inputs(self, keep: Sequence[int], hidden_size: int) -> list[int]:
        """Of each of the four vectors, and the cosine."""
        return [part * hidden_size + place for part in range(4) for place in keep] + [4 * hidden_size]

    @property
    def final(self) -> str:
        return "head.linear"

    def features(self, hidden: Tensor) -> Tensor:
        return pair_features(*hidden[:, 0].chunk(2))

    def forward(self, hidden: Tensor) -> Tensor:
        return self.linear(self.dropout(self.features(hidden)))


def pair_features(first: Tensor, second: Tensor) -> Tensor:
    """Embeddings (batch, hidden) of both texts to (batch, 4 × hidden + 1). Each of the five parts has a length of about 1, so that the cosine, a single
    number, counts as much as any other part."""
    u, v = normalized(first), normalized(second)
    product = u * v
    cosine = product.sum(dim=-1, keepdim=True)
    return torch.cat([u, v, (u - v).abs(), product * first.shape[-1] ** 0.5, cosine], dim=-1)
