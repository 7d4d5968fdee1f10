"""Deep averaging network: each text is the weighted mean of its tokens' vectors, beside that of the products of neighbours."""

from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.networks.attention_free import AttentionFreeConfig, AttentionFreeModel, Body, ForTexts
from niwaki.models.networks.texts import later, mean, shares


class AveragingConfig(AttentionFreeConfig):
    model_type = "averaging"

    neighbours: int = 0  # how many of the next tokens each is multiplied with; 0 leaves a bag of words
    num_products: int = 32  # columns of the products, for each distance


class Mean(Body):
    """A token's weight in the mean of its text is learnt: `token_weights` are its logarithms, but for a constant.

    A mean forgets the order. Beside it stands, for each distance, that of the products of two tokens so far apart: each is seen
    through a matrix of its own, so *not good* and *good not* differ, and what is learnt of one pair holds for its like."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.neighbours, self.products = config.neighbours, config.num_products
        self.embeddings.token_weights = nn.Embedding(config.vocab_size, 1)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)  # of whole words
        columns = self.neighbours * self.products
        self.factors = nn.ModuleList(nn.Linear(config.embedding_size, columns) for _ in range(2) if columns)
        self.states = config.embedding_size
        self.pooled = config.embedding_size + columns

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        return vectors

    def pool(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        scores = self.embeddings.token_weights(ids)[..., 0]
        words = self.dropout(shares(scores, texts)).to(states.dtype) @ states
        return torch.cat([words, *self.pairs(states, texts)], dim=-1)

    def pairs(self, states: Tensor, texts: Tensor) -> list[Tensor]:
        """For each distance (batch, texts, products); of pairs across two texts, or with padding, none counts."""
        if not self.neighbours:
            return []
        firsts, seconds = (factor(states) for factor in self.factors)  # (batch, tokens, neighbours × products)
        found = []
        for distance in range(1, self.neighbours + 1):
            own = slice((distance - 1) * self.products, distance * self.products)
            products = firsts[..., own] * later(seconds[..., own], distance)
            both = texts * later(texts.transpose(1, 2), distance).transpose(1, 2)
            found.append(mean(products, both))
        return found


class Averaging(AttentionFreeModel):
    config_class = AveragingConfig
    body_class = Mean

    def hidden_layers(self) -> int:
        return int(self.config.num_hidden_layers)


class AveragingForSequenceClassification(Averaging, ForTexts):
    """The only head there is: a mean has no tokens left to answer for."""
