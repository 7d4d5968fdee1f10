"""MobileBERT (Sun et al. 2020): narrow layers with bottlenecks, norms without statistics, embeddings that read three tokens."""

from typing import ClassVar

from niwaki.models.families._supported import reject_variants
from niwaki.models.families.bert import Bert
from niwaki.models.family import (
    Config,
    ConfigKeys,
    HeadPaths,
    InputPaths,
    LayerPaths,
    Network,
    StackRules,
    VocabularyPaths,
)
from niwaki.models.value_rules import WIDEST, Rule, flag, one_of, whole

SUPPORTED: Config = {
    "trigram_input": True,
    "use_bottleneck": True,
    "use_bottleneck_attention": False,
    "key_query_shared_bottleneck": True,
}


class MobileBert(Bert):
    body = "mobilebert"
    layer = LayerPaths(
        attention_module="attention.self",
        query="attention.self.query",
        key="attention.self.key",
        value="attention.self.value",
        out="attention.output.dense",
        attention_norm="attention.output.LayerNorm",
        ffn_in="intermediate.dense",
        activation="intermediate.intermediate_act_fn",
        ffn_out="output.dense",
        ffn_norm="output.LayerNorm",
        attention_dropout="attention.self.dropout",
        stack=StackRules(kind="bottleneck", mixer="bottleneck", feed_forward="stacked"),
    )
    inputs = InputPaths(projection="embeddings.embedding_transformation", part="trigrams")
    keys = ConfigKeys(embedding_size="embedding_size")
    head = HeadPaths(
        inner=("mobilebert.pooler.dense",),
        vocabulary=VocabularyPaths(
            dense="cls.predictions.transform.dense",
            activation="cls.predictions.transform.transform_act_fn",
            norm="cls.predictions.transform.LayerNorm",
            table="cls.predictions.decoder",
            wider="cls.predictions",
        ),
    )
    tokenizers: ClassVar[tuple[str, ...]] = ("MobileBert",)
    config_rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys((*SUPPORTED, "classifier_activation"), flag),
        **dict.fromkeys(("intra_bottleneck_size", "true_hidden_size"), whole(WIDEST, 1)),
        "num_feedforward_networks": whole(100, 2),
        "normalization_type": one_of("no_norm", "layer_norm"),
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        reject_variants(config, SUPPORTED, "a mobilebert")

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from niwaki.models.widened_head import widen_head

        super().adapt_network(network)
        widen_head(network)
