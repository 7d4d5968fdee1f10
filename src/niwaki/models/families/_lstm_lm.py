"""What the families of LSTM language models share."""

from niwaki.models.families._attention_free import AttentionFree
from niwaki.models.family import ConfigKeys, HeadPaths, Network, VocabularyPaths


class LstmLanguageModel(AttentionFree):
    body_matrices = "lstm"
    keys = ConfigKeys(hidden_size="lstm_units", heads="", ffn_size="hidden_size", embedding_size="embedding_size")

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        """The output matrix is the token table already."""


def vocabulary_head(directions: int) -> HeadPaths:
    paths = VocabularyPaths(
        dense="",
        norm="",
        table="decoder",
        activation="",
        may_be_causal=True,
        may_be_masked=False,
        directions=directions,
    )
    return HeadPaths(span="classifier", vocabulary=paths)
