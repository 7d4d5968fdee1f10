"""Convolutions of several widths over token vectors; a text is the maximum of each filter."""

from dataclasses import field

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig

from niwaki.models.networks.attention_free import (
    AttentionFreeConfig,
    AttentionFreeModel,
    Body,
    ForSpans,
    ForTexts,
    ForTokens,
)
from niwaki.models.networks.texts import highest


class CnnConfig(AttentionFreeConfig):
    model_type = "cnn"

    filter_widths: list[int] = field(default_factory=lambda: [1, 3, 5])  # widths in tokens
    num_filters: int = 32  # filters of each width


class Convolutions(Body):
    """A convolution is a matrix over windows of tokens, so that it is cut and packed like any other matrix."""

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        self.filter_widths = tuple(config.filter_widths)
        self.convolutions = nn.ModuleList(
            nn.Linear(width * config.embedding_size, config.num_filters) for width in self.filter_widths
        )
        self.states = self.pooled = len(self.filter_widths) * config.num_filters

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        found = [
            convolution(windows(vectors, width))
            for convolution, width in zip(self.convolutions, self.filter_widths, strict=True)
        ]
        return torch.relu(torch.cat(found, dim=-1))

    def pool(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        return highest(states, texts)


def windows(vectors: Tensor, width: int) -> Tensor:
    """(batch, tokens, size) to the window around each token (batch, tokens, width × size), padded with zeros. An even window has
    one more token after than before."""
    if width == 1:
        return vectors
    zeros = vectors.new_zeros(vectors.shape[0], 1, vectors.shape[2])
    before, after = (width - 1) // 2, width // 2
    padded = torch.cat([*[zeros] * before, vectors, *[zeros] * after], dim=1)  # (batch, tokens + width - 1, size)
    places = [padded[:, place : place - width + 1 or None] for place in range(width)]
    return torch.cat(places, dim=-1)


class Cnn(AttentionFreeModel):
    config_class = CnnConfig
    body_class = Convolutions


class CnnForSequenceClassification(Cnn, ForTexts):
    pass


class CnnForTokenClassification(Cnn, ForTokens):
    pass


class CnnForQuestionAnswering(Cnn, ForSpans):
    pass
