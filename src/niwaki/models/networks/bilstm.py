"""Bidirectional LSTM layers over token vectors; a text is the maximum and the mean of their states."""

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
from niwaki.models.networks.lstm import BiLstm as Layer
from niwaki.models.networks.texts import highest, mean


class BiLstmConfig(AttentionFreeConfig):
    model_type = "bilstm"

    lstm_units: int = 32  # units per direction


class Recurrent(Body):
    """Reads both texts as one sequence, so that the states of the second depend on the first."""

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        self.states = 2 * config.lstm_units
        self.pooled = 2 * self.states
        sizes = [config.embedding_size, *[self.states] * (config.num_hidden_layers - 1)]
        self.lstm = nn.ModuleList(Layer(size, config.lstm_units) for size in sizes)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        states = vectors
        for number, layer in enumerate(self.lstm):
            states = layer(self.dropout(states) if number else states, mask)
        return states

    def pool(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        return torch.cat([highest(states, texts), mean(states, texts)], dim=-1)


class BiLstm(AttentionFreeModel):
    config_class = BiLstmConfig
    body_class = Recurrent

    @property
    def depths(self) -> list[list[nn.Module]]:
        return [[layer] for layer in self.body.get_submodule("lstm").children()]


class BiLstmForSequenceClassification(BiLstm, ForTexts):
    pass


class BiLstmForTokenClassification(BiLstm, ForTokens):
    pass


class BiLstmForQuestionAnswering(BiLstm, ForSpans):
    pass
