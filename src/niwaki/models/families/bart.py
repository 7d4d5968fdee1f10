"""BART (Lewis et al. 2020): learned positions on both sides, norms behind each block and behind the embeddings."""

from dataclasses import replace
from typing import ClassVar

from niwaki.core.json_types import Json
from niwaki.models.families._shared_table import SharedTable
from niwaki.models.family import ConfigKeys, DecoderPaths, InputPaths, LayerPaths, Network

OWN = LayerPaths(
    attention_module="self_attn",
    head_size_key="head_dim",
    query="self_attn.q_proj",
    key="self_attn.k_proj",
    value="self_attn.v_proj",
    out="self_attn.out_proj",
    attention_norm="self_attn_layer_norm",
    attention_dropout="self_attn.dropout",
    out_dropout="dropout",
)
FEED_FORWARD: Json = {
    "ffn_in": "fc1",
    "activation": "activation_fn",
    "ffn_out": "fc2",
    "ffn_norm": "final_layer_norm",
    "inner_dropout": "activation_dropout",
    "ffn_dropout": "dropout",
}
CROSS = LayerPaths(
    attention_module="encoder_attn",
    head_size_key="head_dim",
    query="encoder_attn.q_proj",
    key="encoder_attn.k_proj",
    value="encoder_attn.v_proj",
    out="encoder_attn.out_proj",
    attention_norm="encoder_attn_layer_norm",
    attention_dropout="encoder_attn.dropout",
    out_dropout="dropout",
    **FEED_FORWARD,
)


class Bart(SharedTable):
    body = "model"
    layer_list = "encoder.layers"
    layer = replace(OWN, **FEED_FORWARD)
    inputs = InputPaths(
        token_table="model.shared",
        norms=("model.encoder.layernorm_embedding", "model.decoder.layernorm_embedding"),
        uses_token_types=False,
        part="shared_table",
    )
    borrowers = ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    keys = ConfigKeys(
        depth="encoder_layers", hidden_size="d_model", heads="encoder_attention_heads", ffn_size="encoder_ffn_dim"
    )
    decoder: ClassVar[DecoderPaths] = DecoderPaths("model.decoder.layers", OWN, CROSS)
    tokenizers: ClassVar[tuple[str, ...]] = ("Bart",)
    first_position: ClassVar[int] = 2  # rows of a position table before the first token's

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from niwaki.models.tables import Positions

        super().adapt_network(network)
        for side in (network.model.encoder, network.model.decoder):
            side.embed_positions = Positions(side.embed_positions.weight, cls.first_position)
