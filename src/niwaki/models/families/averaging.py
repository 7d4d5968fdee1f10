"""Deep averaging network (Iyyer et al. 2015): the weighted mean of token vectors, products of neighbours, and hidden layers.

Without the hidden layers it is a table of word vectors, whose weighted mean is the embedding of a text.
"""

from dataclasses import replace

from niwaki.models.families._attention_free import INPUTS, AttentionFree
from niwaki.models.family import ConfigKeys, HeadPaths


class Averaging(AttentionFree):
    body_matrices = "factors"
    inputs = replace(INPUTS, other_tables=("embeddings.token_weights",))
    head = HeadPaths(span="classifier", per_token=False, embeds=True)
    keys = ConfigKeys(hidden_size="embedding_size", heads="", ffn_size="hidden_size")

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks import averaging
        from niwaki.models.networks.attention_free import register_networks

        register_networks(
            averaging.AveragingConfig,
            averaging.AveragingForSequenceClassification,
            averaging.AveragingForFeatureExtraction,
        )
