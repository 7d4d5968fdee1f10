"""ALBERT (Lan et al. 2020): one layer run many times, behind a narrow embedding."""

from typing import TYPE_CHECKING

from niwaki.models.family import ConfigKeys, Family, HeadPaths, InputPaths, LayerPaths, Network, VocabularyPaths

if TYPE_CHECKING:
    from torch import nn
    from transformers import PretrainedConfig


class Albert(Family):
    body = "albert"
    layer = LayerPaths(
        attention_module="attention",
        query="attention.query",
        key="attention.key",
        value="attention.value",
        out="attention.dense",
        attention_norm="attention.LayerNorm",
        ffn_in="ffn",
        activation="activation",
        ffn_out="ffn_output",
        ffn_norm="full_layer_layer_norm",
        attention_dropout="attention.attention_dropout",
        out_dropout="attention.output_dropout",
    )
    inputs = InputPaths(projection="encoder.embedding_hidden_mapping_in", splits_number_commas=True)
    keys = ConfigKeys(embedding_size="embedding_size")
    head = HeadPaths(
        inner=("albert.pooler",),
        vocabulary=VocabularyPaths(
            dense="predictions.dense",
            activation="predictions.activation",
            norm="predictions.LayerNorm",
            table="predictions.decoder",
        ),
    )
    tokenizers = ("Albert",)

    @classmethod
    def layers(cls, trunk: Network) -> "list[nn.Module]":
        return [module for group in trunk.encoder.albert_layer_groups for module in group.albert_layers]

    @classmethod
    def order(cls, config: "PretrainedConfig", layers: int) -> list[int]:
        per_group = config.num_hidden_layers / config.num_hidden_groups
        inner, depth = int(config.inner_group_num), int(config.num_hidden_layers)
        return [int(step / per_group) * inner + k for step in range(depth) for k in range(inner)]
