"""BART (Lewis et al. 2020): learned positions on both sides, norms behind each block and behind the embeddings."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.decoding import DecoderLayer
from niwaki.models.families._seq2seq import StockSeq2Seq
from niwaki.models.layer import Layer
from niwaki.models.tables import Positions


class SelfAttentionPaths:
    """Where the parts of the attention to what was written lie in a decoder's layer."""

    attention_module, head_size_key = "self_attn", "head_dim"
    query, key, value, out = (f"self_attn.{part}_proj" for part in ("q", "k", "v", "out"))
    attention_norm = "self_attn_layer_norm"
    attention_dropout, out_dropout = "self_attn.dropout", "dropout"
    ffn_in = ffn_out = ffn_norm = ""


class CrossAttentionPaths:
    """And of the attention to what was read, with the feed-forward block behind it."""

    attention_module, head_size_key = "encoder_attn", "head_dim"
    query, key, value, out = (f"encoder_attn.{part}_proj" for part in ("q", "k", "v", "out"))
    attention_norm = "encoder_attn_layer_norm"
    attention_dropout, out_dropout = "encoder_attn.dropout", "dropout"
    inner_dropout, ffn_dropout = "activation_dropout", "dropout"
    ffn_in, activation, ffn_out, ffn_norm = "fc1", "activation_fn", "fc2", "final_layer_norm"


class Bart(StockSeq2Seq):
    body = "model"
    table = "model.shared"
    borrowers = ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    token_table = "shared"
    layer_list = "encoder.layers"
    attention_module, head_size_key = "self_attn", "head_dim"
    query, key, value, out = (f"self_attn.{part}_proj" for part in ("q", "k", "v", "out"))
    attention_norm = "self_attn_layer_norm"
    ffn_in, activation, ffn_out, ffn_norm = "fc1", "activation_fn", "fc2", "final_layer_norm"
    attention_dropout, out_dropout = "self_attn.dropout", "dropout"
    inner_dropout, ffn_dropout = "activation_dropout", "dropout"
    depth_key, heads_key, ffn_size_key, hidden_size_key = (
        "encoder_layers",
        "encoder_attention_heads",
        "encoder_ffn_dim",
        "d_model",
    )
    decoder_heads_key, decoder_ffn_size_key = "decoder_attention_heads", "decoder_ffn_dim"
    decoder_layer_list = "model.decoder.layers"
    norms_of_embeddings: ClassVar[tuple[str, ...]] = (
        "model.encoder.layernorm_embedding",
        "model.decoder.layernorm_embedding",
    )
    first_position = 2  # rows of a table of positions before the first one's

    @classmethod
    def adapt_network(cls, network: Any) -> None:
        super().adapt_network(network)
        for side in (network.model.encoder, network.model.decoder):
            side.embed_positions = Positions(side.embed_positions.weight, cls.first_position)

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        return [
            (Layer(module, SelfAttentionPaths), Layer(module, CrossAttentionPaths))
            for module in self.trunk.decoder.layers
        ]

    @property
    def embeddings(self) -> list[nn.Module]:
        return [*super().embeddings, *(self.network.get_submodule(path) for path in self.norms_of_embeddings)]

    def embedding_norms(self) -> list[str]:
        return list(self.norms_of_embeddings)

    def embed(self, ids: Tensor, types: Tensor | None) -> Tensor:
        return self._embedded(self.trunk.encoder, ids, 0)

    def embed_target(self, ids: Tensor, first: Tensor | int) -> Tensor:
        return self._embedded(self.trunk.decoder, ids, first)

    def _embedded(self, side: Any, ids: Tensor, first: Tensor | int) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device) + first
        found = side.embed_tokens(ids) + side.embed_positions.at(places)
        found = side.layernorm_embedding(found) if self.norms_of_embeddings else found
        return functional.dropout(found, side.dropout, side.training)

    def scores(self, hidden: Tensor) -> Tensor:
        return self.network.lm_head(hidden) + self.network.final_logits_bias
