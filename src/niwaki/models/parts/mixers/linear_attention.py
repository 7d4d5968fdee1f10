"""Linear attention with learned features that mimic a softmax (Hedgehog, Zhang et al. 2024): time and memory grow linearly with the text."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.models.layout import Layout
from niwaki.models.linear_attention import features, linear_attention
from niwaki.models.parts.mixers._projected import Projected, ProjectedSettings

MAPS = ("query", "key")


class LinearAttentionSettings(ProjectedSettings):
    features: int = setting(
        0,
        "projections of a head's queries and keys, half the number of features; 0 takes the size of a head",
        ge=0,
        le=65_536,
    )


class LinearAttention(Projected):
    """Feature maps are numbers of their own for each head, in fp32: rounding them would change all weights of a head."""

    no_native = "there are no feature maps in C"
    settings = LinearAttentionSettings

    def __init__(self, hidden_size: int, settings: LinearAttentionSettings) -> None:
        super().__init__(hidden_size, settings)
        count = settings.features or self.width
        for name in MAPS:
            start = torch.eye(self.width, count).repeat(settings.attention_heads, 1, 1)
            self.register_parameter(f"{name}_map", nn.Parameter(start))
            self.register_parameter(f"{name}_bias", nn.Parameter(torch.zeros(settings.attention_heads, 1, count)))

    def feature_map(self, name: str) -> tuple[Tensor, Tensor]:
        """Weight and bias of the features of queries, or of keys."""
        return getattr(self, f"{name}_map"), getattr(self, f"{name}_bias")

    def keep_heads(self, heads: Sequence[int]) -> None:
        super().keep_heads(heads)
        for name in MAPS:
            for part in (f"{name}_map", f"{name}_bias"):
                setattr(self, part, nn.Parameter(getattr(self, part).detach()[list(heads)]))

    def mix(self, query: Tensor, key: Tensor, value: Tensor, layout: Layout) -> Tensor:
        if layout.causal:
            raise InputError("linear_attention: every token attends to all here; take 'window' for causal models")
        query, key = (features(each, *self.feature_map(name)) for name, each in zip(MAPS, (query, key), strict=True))
        return linear_attention(query, key, value, layout.mask)
