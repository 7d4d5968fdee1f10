"""Logits of each token's label from the weighted sum of its hidden states of all layers."""

from torch import Tensor

from niwaki.models.parts.heads._weighted import Weighted, WeightedSettings


class WeightedTokens(Weighted):
    no_native = "it reads the hidden states of all layers"
    architecture = "TokenClassification"
    settings = WeightedSettings
    per_token = True

    def __init__(self, hidden_size: int, labels: int, settings: WeightedSettings) -> None:
        super().__init__(labels, settings)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.linear(self.dropout(hidden))
