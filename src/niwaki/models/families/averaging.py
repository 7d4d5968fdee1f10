"""Deep averaging network (Iyyer et al. 2015): the weighted mean of token vectors, products of neighbours, and hidden layers."""

from collections.abc import Iterator

from niwaki.models.families._attention_free import AttentionFreeAnatomy
from niwaki.models.networks import averaging
from niwaki.models.networks.attention_free import register_networks


class Averaging(AttentionFreeAnatomy):
    has_token_heads = False
    body_matrices = "factors"
    other_tables = ("embeddings.token_weights",)

    @classmethod
    def register_networks(cls) -> None:
        register_networks(averaging.AveragingConfig, averaging.AveragingForSequenceClassification)

    def tables_by_token(self) -> Iterator[str]:
        return self.tables()
