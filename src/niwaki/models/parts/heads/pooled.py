"""Logits for whole sequences: one matrix on the pooled hidden states of all tokens."""

from torch import Tensor, nn

from niwaki.core.settings import Settings, setting
from niwaki.models.parts.heads._head import TaskHead
from niwaki.models.pooling import normalized, pool
from niwaki.models.sentence_modules import PoolingMode


class PooledSettings(Settings):
    mode: PoolingMode = setting("mean", "how tokens are pooled")


class Pooled(TaskHead, nn.Module):
    """Reads sentence embeddings of length 1. `edits/replace_part.py` puts it into a network."""

    architecture = "SequenceClassification"
    settings = PooledSettings

    def __init__(self, hidden_size: int, labels: int, settings: PooledSettings) -> None:
        nn.Module.__init__(self)
        self.mode = settings.mode
        self.linear = nn.Linear(hidden_size, labels)

    @property
    def pools(self) -> bool:
        return True

    @property
    def final(self) -> str:
        return "head.linear"

    def pool(self, hidden: Tensor, mask: Tensor) -> Tensor:
        return pool(hidden, mask, self.mode)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.linear(normalized(hidden[:, 0]))
