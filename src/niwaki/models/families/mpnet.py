"""MPNet (Song et al. 2020): no token types, one relative position bias shared by all layers."""

from typing import TYPE_CHECKING

from niwaki.models.family import Family, HeadPaths, InputPaths, LayerPaths, Network, RelativeBias, VocabularyPaths

if TYPE_CHECKING:
    from torch import Tensor


class Buckets(RelativeBias):
    table = "encoder.relative_attention_bias"

    def at(self, trunk: Network, distances: "Tensor") -> "Tensor":
        return trunk.encoder.relative_attention_bias(trunk.encoder.relative_position_bucket(distances))

    def rows(self, trunk: Network, longest: int) -> list[int]:
        import torch

        return trunk.encoder.relative_position_bucket(torch.arange(1 - longest, longest)).tolist()


class MPNet(Family):
    body = "mpnet"
    layer = LayerPaths(
        attention_module="attention.attn",
        query="attention.attn.q",
        key="attention.attn.k",
        value="attention.attn.v",
        out="attention.attn.o",
        attention_norm="attention.LayerNorm",
        ffn_in="intermediate.dense",
        activation="intermediate.intermediate_act_fn",
        ffn_out="output.dense",
        ffn_norm="output.LayerNorm",
        attention_dropout="attention.attn.dropout",
        out_dropout="attention.dropout",
        ffn_dropout="output.dropout",
    )
    inputs = InputPaths(other_tables=("embeddings.position_embeddings",), uses_token_types=False, skipped_positions=2)
    head = HeadPaths(
        inner=("classifier.dense",),
        final="classifier.out_proj",
        dropout="classifier.dropout",
        first_dropout="classifier.dropout",
        vocabulary=VocabularyPaths(dense="lm_head.dense", norm="lm_head.layer_norm", table="lm_head.decoder"),
    )
    relative = Buckets()
    tokenizers = ("MPNet",)
