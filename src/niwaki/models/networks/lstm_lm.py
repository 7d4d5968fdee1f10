"""LSTM language models: token vectors, LSTM layers, and the token table once more as the output matrix.

The last layer is as wide as a token vector. `BiLstmLm` has a second stack that reads texts backwards; both share the table.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PretrainedConfig

from niwaki.models.networks.attention_free import (
    AttentionFreeConfig,
    AttentionFreeModel,
    Body,
    ForSpans,
    ForTexts,
    ForTokens,
)
from niwaki.models.networks.lstm import Direction, Lstm
from niwaki.models.networks.texts import first, highest, last, later, mean
from niwaki.models.vocabulary_matrix import VocabularyMatrix

INITIAL_RANGE = 0.1  # of token vectors, as in AWD-LSTM
WORD_DROPOUT_SHARE = 0.1  # words are dropped at this share of the rate, because all their places are lost at once


class LstmLmConfig(AttentionFreeConfig):
    model_type = "lstm_lm"

    lstm_units: int = 32  # of every layer but the last, which has `embedding_size`


class BiLstmLmConfig(LstmLmConfig):
    model_type = "bilstm_lm"


class LockedDropout(nn.Dropout):
    """Drops the same numbers at every token of a sequence (variational dropout, Gal and Ghahramani 2016)."""

    def forward(self, states: Tensor) -> Tensor:
        if not self.training or not self.p:
            return states
        return states * functional.dropout(torch.ones_like(states[:, :1]), self.p)


class WordDropout(nn.Dropout):
    """Drops whole words: all places of a token of the vocabulary in the batch."""

    def words(self, vectors: Tensor, ids: Tensor, words: int) -> Tensor:
        if not self.training or not self.p:
            return vectors
        kept = functional.dropout(vectors.new_ones(words), self.p * WORD_DROPOUT_SHARE)
        return vectors * kept[ids][..., None]


class Stacks(Body):
    """The layers of one stack lie behind those of the other."""

    directions: ClassVar[tuple[Direction, ...]] = ("forward",)

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        self.states = config.embedding_size * len(self.directions)
        self.pooled = 3 * self.states
        sizes = [config.embedding_size, *[config.lstm_units] * (config.num_hidden_layers - 1), config.embedding_size]
        self.lstm = nn.ModuleList(
            Lstm(sizes[depth], sizes[depth + 1], direction, drops_weights=True)
            for direction in self.directions
            for depth in range(config.num_hidden_layers)
        )
        self.word_dropout = WordDropout(config.hidden_dropout_prob)
        self.dropout = LockedDropout(config.hidden_dropout_prob)

    def layers(self, vectors: Tensor, mask: Tensor) -> list[Tensor]:
        """States behind each layer, those of all stacks side by side."""
        depth = len(self.lstm) // len(self.directions)
        found = list[list[Tensor]]()
        for number, layer in enumerate(self.lstm):
            if number % depth == 0:
                found.append([])
            states = found[-1][-1] if found[-1] else vectors
            found[-1].append(layer(self.dropout(states), mask))
        return [torch.cat(stacks, dim=-1) for stacks in zip(*found, strict=True)]

    def pool(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        """Concat pooling of ULMFiT: the state that was computed last, the maximum and the mean. Backwards that is the first token's."""
        halves = zip(self.directions, states.chunk(len(self.directions), dim=-1), strict=True)
        ends = [first(half, texts) if direction == "reverse" else last(half, texts) for direction, half in halves]
        return torch.cat([*ends, highest(states, texts), mean(states, texts)], dim=-1)


class TwoStacks(Stacks):
    directions = ("forward", "reverse")


class LstmLm(AttentionFreeModel):
    body: Stacks
    config_class = LstmLmConfig
    body_class: ClassVar[type[Body]] = Stacks

    def states(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """The token vectors, with 0 for padding, and the states behind each layer."""
        table = self.body.embeddings.word_embeddings
        vectors = table(ids)
        vectors = vectors * mask[..., None].to(vectors.dtype)
        vectors = self.body.word_dropout.words(vectors, ids, table.num_embeddings)
        return vectors, *self.body.layers(vectors, mask)

    @property
    def depths(self) -> list[list[nn.Module]]:
        layers, depth = list(self.body.lstm), self.config.num_hidden_layers
        return [layers[number::depth] for number in range(depth)]

    @property
    def state_sizes(self) -> list[int]:
        return [
            self.config.embedding_size,
            *(sum(layer.units for layer in layers if isinstance(layer, Lstm)) for layers in self.depths),
        ]

    @torch.no_grad()
    def _init_weights(self, module: object) -> None:
        super()._init_weights(module)
        if isinstance(module, nn.Embedding):
            nn.init.uniform_(module.weight, -INITIAL_RANGE, INITIAL_RANGE)


class ForVocabulary(LstmLm):
    """At each place the logits of the token that follows: (…, vocabulary) of each direction, side by side."""

    def add_head(self) -> None:
        self.hidden = nn.ModuleList()
        bias = nn.Parameter(torch.zeros(self.config.vocab_size))
        self.decoder = VocabularyMatrix(self.body.embeddings, "word_embeddings", nn.Module(), bias)

    def answer(self, states: Tensor, ids: Tensor, mask: Tensor, predicted: Tensor | None = None) -> Tensor:
        """The stack that reads backwards predicts the same token: from the state of the one behind it, two places later."""
        states = self.body.dropout(states)
        stacks = [*states.split(self.config.embedding_size, dim=-1)]
        if len(stacks) > 1:  # 0 behind the text, where nothing was read
            stacks[1] = later(stacks[1] * mask[..., None].to(states.dtype), 2)
        rows = stacks if predicted is None else [stack[predicted] for stack in stacks]
        return torch.cat([self.decoder(stack) for stack in rows], dim=-1)


class LstmLmForMaskedLM(ForVocabulary):
    pass


class LstmLmForSequenceClassification(LstmLm, ForTexts):
    pass


class LstmLmForTokenClassification(LstmLm, ForTokens):
    pass


class LstmLmForQuestionAnswering(LstmLm, ForSpans):
    pass


class BiLstmLm(LstmLm):
    config_class = BiLstmLmConfig
    body_class = TwoStacks


class BiLstmLmForMaskedLM(BiLstmLm, ForVocabulary):
    pass


class BiLstmLmForSequenceClassification(BiLstmLm, ForTexts):
    pass


class BiLstmLmForTokenClassification(BiLstmLm, ForTokens):
    pass


class BiLstmLmForQuestionAnswering(BiLstmLm, ForSpans):
    pass
