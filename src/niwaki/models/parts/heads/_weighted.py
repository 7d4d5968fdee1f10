"""Shared by the heads that read a weighted sum of the hidden states of all layers (ELMo)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.parts.heads._head import TaskHead


class WeightedSettings(Settings):
    states: int = setting(13, "hidden states that are summed: of the embeddings and of each layer", ge=1)
    size: int = setting(768, "numbers of the sum", ge=1)
    dropout: float = setting(0.0, "share of numbers dropped before the last matrix while training", ge=0, lt=1)


class Weighted(TaskHead, nn.Module):
    """`edits/replace_part.py` puts it into a network."""

    def __init__(self, labels: int, settings: WeightedSettings) -> None:
        nn.Module.__init__(self)
        self.layer_scores = nn.Parameter(torch.zeros(settings.states))  # 1-dimensional, so that weight decay skips them
        self.gamma = nn.Parameter(torch.ones(1))
        self.dropout, self.size = nn.Dropout(settings.dropout), settings.size
        self.linear = nn.Linear(settings.size, labels)

    @property
    def mixes(self) -> bool:
        return True

    @property
    def final(self) -> str:
        return "head.linear"

    def mix(self, hidden: Sequence[Tensor]) -> Tensor:
        if len(hidden) != len(self.layer_scores):
            raise InputError(
                f"weighted_layers: the head sums {len(self.layer_scores)} hidden states, and the model now has {len(hidden)}; "
                "cut layers before 'weighted_layers'"
            )
        return weighted_sum(hidden, self.layer_scores, self.gamma, self.size)


def weighted_sum(hidden: Sequence[Tensor], scores: Tensor, gamma: Tensor, size: int) -> Tensor:
    """γ times the sum of the states (batch, tokens, …), weighted by the softmax of the scores. Narrow states are repeated up to the size, as
    ELMo does with the token vectors that both of its directions read."""
    weights = torch.softmax(scores, dim=0)
    wide = [
        states if states.shape[-1] == size else torch.cat([states] * (size // states.shape[-1]), -1)
        for states in hidden
    ]
    total = wide[0] * weights[0]
    for number, states in enumerate(wide[1:], 1):
        total = total + states * weights[number]
    return total * gamma
