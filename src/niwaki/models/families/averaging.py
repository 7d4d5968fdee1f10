"""Deep averaging network (Iyyer et al. 2015): the weighted mean of token vectors, products of neighbours, and hidden layers."""

from dataclasses import replace

from niwaki.models.families._attention_free import INPUTS, AttentionFree
from niwaki.models.family import HeadPaths


class Averaging(AttentionFree):
    body_matrices = "factors"
    inputs = replace(INPUTS, other_tables=("embeddings.token_weights",))
    head = HeadPaths(span="classifier", per_token=False)

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks import averaging
        from niwaki.models.networks.attention_free import register_networks

        register_networks(averaging.AveragingConfig, averaging.AveragingForSequenceClassification)
