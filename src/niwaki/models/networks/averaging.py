"""Deep averaging network: a text is the weighted mean of its token vectors, and the mean of the products of neighbours."""

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig

from niwaki.models.networks.attention_free import AttentionFreeConfig, AttentionFreeModel, Body, ForTexts
from niwaki.models.networks.texts import later, mean, shares, texts_of

FREQUENT = 1e-3  # relative frequency at which a token weighs half as much as a rare one


class AveragingConfig(AttentionFreeConfig):
    model_type = "averaging"

    neighbours: int = 0  # following tokens that each token is multiplied with; 0 is a bag of words
    num_products: int = 32  # dimensions of the products, for each distance


class Mean(Body):
    """The weight of a token in the mean is learned: `token_weights` are its logarithms, up to a constant.

    The mean ignores word order. For each distance, the mean of the products of two tokens at that distance is concatenated; each
    has its own projection, so that *not good* and *good not* differ and similar pairs generalize."""

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        self.neighbours, self.products = config.neighbours, config.num_products
        self.embeddings.token_weights = nn.Embedding(config.vocab_size, 1)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)  # drops whole tokens
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
        """For each distance (batch, texts, products); pairs across texts or with padding are ignored."""
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
    """The only head for tasks: a mean has no states for single tokens."""


class AveragingForFeatureExtraction(Averaging):
    """No head: the embedding of a text is its weighted mean."""

    dense = None  # of sentence-transformers' networks

    def add_head(self) -> None:
        self.hidden = nn.ModuleList()

    def answer(self, states: Tensor, ids: Tensor, mask: Tensor, predicted: Tensor | None = None) -> Tensor:
        texts = texts_of(ids, mask, self.config.sep_token_id, 1)
        return self.body.pool(states, ids, texts)[:, 0]

    @torch.no_grad()
    def _init_weights(self, module: object) -> None:
        """Token vectors begin small, as in word2vec, so that no direction is preferred; all tokens weigh the same."""
        super()._init_weights(module)
        if isinstance(module, nn.Embedding):
            bound = 0.5 / module.embedding_dim
            nn.init.uniform_(module.weight, -bound, bound)
            if module.embedding_dim == 1:
                nn.init.zeros_(module.weight)


def frequency_weights(counts: Tensor) -> Tensor:
    """The logarithms of a / (a + frequency) for counts of all tokens (vocabulary,), where a is FREQUENT (Arora et al. 2017)."""
    shares = counts.double() / counts.sum().clamp(min=1)
    return (FREQUENT / (FREQUENT + shares)).log().float()
