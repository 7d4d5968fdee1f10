"""RemBERT (Chung et al. 2021): BERT with narrow input embeddings and wide output embeddings."""

from typing import ClassVar

from niwaki.models.families.bert import Bert
from niwaki.models.family import ConfigKeys, HeadPaths, InputPaths, VocabularyPaths
from niwaki.models.value_rules import WIDEST, Rule, share, whole


class RemBert(Bert):
    body = "rembert"
    inputs = InputPaths(projection="encoder.embedding_hidden_mapping_in")
    keys = ConfigKeys(embedding_size="input_embedding_size")
    head = HeadPaths(
        inner=("rembert.pooler.dense",),
        vocabulary=VocabularyPaths(
            dense="cls.predictions.dense",
            activation="cls.predictions.activation",
            norm="cls.predictions.LayerNorm",
            table="cls.predictions.decoder",
            may_be_causal=True,
            shares_table=False,
        ),
    )
    tokenizers = ("RemBert",)
    config_rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("input_embedding_size", "output_embedding_size"), whole(WIDEST, 1)),
        "classifier_dropout_prob": share,
    }
