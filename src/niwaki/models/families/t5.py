"""T5 (Raffel et al. 2020): norms before each block that only scale, one relative position bias a side, unscaled attention. T5 1.1, Flan-T5 and
ByT5 are saved as it too; their blocks are gated and their output has numbers of its own."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from niwaki.models.families._shared_table import SharedTable
from niwaki.models.family import ConfigKeys, DecoderPaths, Family, InputPaths, LayerPaths, Network, RelativeBias
from niwaki.models.value_rules import Rule, flag

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PretrainedConfig

OWN = LayerPaths(
    attention_module="layer.0.SelfAttention",
    head_size_key="key_value_proj_dim",
    query="layer.0.SelfAttention.q",
    key="layer.0.SelfAttention.k",
    value="layer.0.SelfAttention.v",
    out="layer.0.SelfAttention.o",
    attention_norm="layer.0.layer_norm",
    attention_dropout="layer.0.SelfAttention.dropout",
    out_dropout="layer.0.dropout",
    pre_norm=True,
    scaled=False,
)
CROSS = LayerPaths(
    attention_module="layer.1.EncDecAttention",
    head_size_key="key_value_proj_dim",
    query="layer.1.EncDecAttention.q",
    key="layer.1.EncDecAttention.k",
    value="layer.1.EncDecAttention.v",
    out="layer.1.EncDecAttention.o",
    attention_norm="layer.1.layer_norm",
    ffn_in="layer.2.DenseReluDense.wi",
    activation="layer.2.DenseReluDense.act",
    ffn_out="layer.2.DenseReluDense.wo",
    ffn_norm="layer.2.layer_norm",
    attention_dropout="layer.1.EncDecAttention.dropout",
    out_dropout="layer.1.dropout",
    inner_dropout="layer.2.DenseReluDense.dropout",
    ffn_dropout="layer.2.dropout",
    pre_norm=True,
    scaled=False,
)


class FirstLayerBias(RelativeBias):
    """The table lies in the first layer."""

    table = "block.0.layer.0.SelfAttention.relative_attention_bias"

    def at(self, trunk: Network, distances: "Tensor") -> "Tensor":
        from niwaki.models.parts.decoders.relative import bias_at

        return bias_at(trunk.block[0].layer[0].SelfAttention, distances)

    def rows(self, trunk: Network, longest: int) -> list[int]:
        from niwaki.models.parts.decoders.relative import rows_by_distance

        return rows_by_distance(trunk.block[0].layer[0].SelfAttention, longest)

    def move(self, first: "nn.Module", now: "nn.Module") -> None:
        from niwaki.models.parts.decoders.relative import move_bias

        move_bias(*(layer.get_submodule(OWN.attention_module) for layer in (first, now)))


class T5(SharedTable):
    body = "encoder"
    layer_list = "block"
    layer = replace(
        OWN,
        ffn_in="layer.1.DenseReluDense.wi",
        activation="layer.1.DenseReluDense.act",
        ffn_out="layer.1.DenseReluDense.wo",
        ffn_norm="layer.1.layer_norm",
        inner_dropout="layer.1.DenseReluDense.dropout",
        ffn_dropout="layer.1.dropout",
    )
    inputs = InputPaths(token_table="shared", norms=(), uses_token_types=False, limited=False, part="shared_table")
    borrowers = ("encoder.embed_tokens", "decoder.embed_tokens", "lm_head")
    keys = ConfigKeys(depth="num_layers", hidden_size="d_model", heads="num_heads", ffn_size="d_ff", head_size="d_kv")
    decoder = DecoderPaths(
        "decoder.block",
        OWN,
        CROSS,
        "num_decoder_layers",
        heads_key="num_heads",
        ffn_size_key="d_ff",
        part="relative",
        begins_with_bos=False,
    )
    relative = FirstLayerBias()
    tokenizers = ("T5", "ByT5")

    may_untie = True
    config_rules: ClassVar[dict[str, Rule]] = {"scale_decoder_outputs": flag}

    @classmethod
    def encoder(cls, config: "PretrainedConfig") -> type[Family]:
        from niwaki.models.families._gated_t5 import GatedT5

        return GatedT5 if config.is_gated_act else cls

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from niwaki.models.families._t5_modules import adapt

        super().adapt_network(network)
        adapt(network)
