"""Logits for whole sequences from the pooled weighted sum of the hidden states of all layers."""

from torch import Tensor

from niwaki.core.settings import setting
from niwaki.models.parts.heads._weighted import Weighted, WeightedSettings
from niwaki.models.sentence_modules import PoolingMode


class WeightedTextSettings(WeightedSettings):
    mode: PoolingMode = setting("mean", "how tokens are pooled")


class WeightedText(Weighted):
    no_native = "it reads the hidden states of all layers"
    architecture = "SequenceClassification"
    settings = WeightedTextSettings

    def __init__(self, hidden_size: int, labels: int, settings: WeightedTextSettings) -> None:
        super().__init__(labels, settings)
        self.mode = settings.mode

    @property
    def pooling(self) -> str:
        return self.mode

    @property
    def pools(self) -> bool:
        return True

    def forward(self, hidden: Tensor) -> Tensor:
        return self.linear(self.dropout(hidden[:, 0]))
