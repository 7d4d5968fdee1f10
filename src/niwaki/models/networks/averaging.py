"""Deep averaging network: each text is the weighted mean of its tokens' vectors."""

from typing import Any

from torch import Tensor, nn

from niwaki.models.networks.reader import Body, ForTexts, Reader, ReaderConfig
from niwaki.models.networks.texts import shares


class AveragingConfig(ReaderConfig):
    model_type = "averaging"


class Mean(Body):
    """A token's weight in the mean of its text is learnt: `token_weights` are its logarithms, but for a constant."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.embeddings.token_weights = nn.Embedding(config.vocab_size, 1)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)  # of whole words
        self.states = self.pooled = config.embedding_size

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        return vectors

    def pool(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        scores = self.embeddings.token_weights(ids)[..., 0]
        return self.dropout(shares(scores, texts)).to(states.dtype) @ states


class Averaging(Reader):
    config_class = AveragingConfig
    body_class = Mean

    def hidden_layers(self) -> int:
        return int(self.config.num_hidden_layers)


class AveragingForSequenceClassification(Averaging, ForTexts):
    """The only head there is: a mean has no tokens left to answer for."""
