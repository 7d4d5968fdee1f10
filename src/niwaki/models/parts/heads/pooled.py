"""Logits for whole sequences from the pooled hidden states of all tokens: one matrix, or a dense layer with tanh before it."""

import torch
from torch import Tensor, nn

from niwaki.core.settings import Settings, setting
from niwaki.models.parts.heads._head import TaskHead
from niwaki.models.pooling import normalized
from niwaki.models.sentence_modules import PoolingMode


class PooledSettings(Settings):
    mode: PoolingMode = setting("mean", "how tokens are pooled")
    normalize: bool = setting(True, "whether pooled vectors are scaled to length 1")
    dense: bool = setting(False, "whether a dense layer with tanh comes before the last matrix")
    dropout: float = setting(0.0, "share of numbers dropped before each matrix while training", ge=0, lt=1)


class Pooled(TaskHead, nn.Module):
    """`edits/replace_part.py` puts it into a network."""

    architecture = "SequenceClassification"
    settings = PooledSettings
    native = "dense"

    def __init__(self, hidden_size: int, labels: int, settings: PooledSettings) -> None:
        nn.Module.__init__(self)
        self.mode, self.normalize = settings.mode, settings.normalize
        self.dropout = nn.Dropout(settings.dropout)
        if settings.dense:
            self.dense = nn.Linear(hidden_size, hidden_size)
        self.linear = nn.Linear(hidden_size, labels)

    @property
    def pooling(self) -> str:
        return self.mode

    @property
    def pools(self) -> bool:
        return True

    @property
    def unit_length(self) -> bool:
        return self.normalize

    @property
    def inner(self) -> tuple[str, ...]:
        return ("head.dense",) if "dense" in self._modules else ()

    @property
    def final(self) -> str:
        return "head.linear"

    @property
    def activation(self) -> str:
        return "tanh" if self.inner else "none"

    def features(self, hidden: Tensor) -> Tensor:
        return normalized(hidden[:, 0]) if self.normalize else hidden[:, 0]

    def forward(self, hidden: Tensor) -> Tensor:
        rows = self.features(hidden)
        if self.inner:
            rows = torch.tanh(self.dense(self.dropout(rows)))
        return self.linear(self.dropout(rows))
