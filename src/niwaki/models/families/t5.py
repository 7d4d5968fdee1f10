"""T5 (Raffel et al. 2020): norms before each block that only scale, one relative position bias a side, unscaled attention."""

from typing import Any

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.models.config_rules import MOST_POSITIONS
from niwaki.models.decoding import DecoderLayer
from niwaki.models.families._seq2seq import StockSeq2Seq
from niwaki.models.layer import Layer

ATTENTION = "layer.0.SelfAttention"


class SelfAttentionPaths:
    """Where the parts of the attention to what was written lie in a decoder's layer."""

    attention_module, head_size_key = ATTENTION, "key_value_proj_dim"
    query, key, value, out = (f"{ATTENTION}.{part}" for part in "qkvo")
    attention_norm = "layer.0.layer_norm"
    attention_dropout, out_dropout = f"{ATTENTION}.dropout", "layer.0.dropout"
    ffn_in = ffn_out = ffn_norm = ""
    norms_first, scales_attention = True, False


class CrossAttentionPaths:
    """And of the attention to what was read, with the feed-forward block behind it."""

    attention_module, head_size_key = "layer.1.EncDecAttention", "key_value_proj_dim"
    query, key, value, out = (f"layer.1.EncDecAttention.{part}" for part in "qkvo")
    attention_norm = "layer.1.layer_norm"
    ffn_in, activation, ffn_out = (f"layer.2.DenseReluDense.{part}" for part in ("wi", "act", "wo"))
    ffn_norm = "layer.2.layer_norm"
    attention_dropout, out_dropout = "layer.1.EncDecAttention.dropout", "layer.1.dropout"
    inner_dropout, ffn_dropout = "layer.2.DenseReluDense.dropout", "layer.2.dropout"
    norms_first, scales_attention = True, False


class T5(StockSeq2Seq):
    body = "encoder"
    table = "shared"
    borrowers = ("encoder.embed_tokens", "decoder.embed_tokens", "lm_head")
    token_table = "embed_tokens"
    layer_list = "block"
    attention_module, head_size_key = ATTENTION, "key_value_proj_dim"
    query, key, value, out = (f"{ATTENTION}.{part}" for part in "qkvo")
    attention_norm = "layer.0.layer_norm"
    ffn_in, activation, ffn_out = (f"layer.1.DenseReluDense.{part}" for part in ("wi", "act", "wo"))
    ffn_norm = "layer.1.layer_norm"
    attention_dropout, out_dropout = f"{ATTENTION}.dropout", "layer.0.dropout"
    inner_dropout, ffn_dropout = "layer.1.DenseReluDense.dropout", "layer.1.dropout"
    norms_first, scales_attention = True, False
    depth_key, heads_key, ffn_size_key, hidden_size_key = "num_layers", "num_heads", "d_ff", "d_model"
    decoder_depth_key, decoder_heads_key, decoder_ffn_size_key = "num_decoder_layers", "num_heads", "d_ff"
    decoder_layer_list = "decoder.block"
    relative_table = "block.0.layer.0.SelfAttention.relative_attention_bias"

    @classmethod
    def check_config(cls, config: dict[str, Any]) -> None:
        super().check_config(config)
        if str(config.get("feed_forward_proj", "relu")).startswith("gated"):
            raise InputError(
                "config: a t5 with gated feed-forward blocks (T5 1.1, Flan-T5) is not supported; take one of the first T5, feed_forward_proj = 'relu'"
            )

    @classmethod
    def adapt_network(cls, network: Any) -> None:
        super().adapt_network(network)
        for side in (network.encoder, network.decoder):
            for block in side.block:
                block.layer[-1].DenseReluDense = Dense(block.layer[-1].DenseReluDense)
            for module in side.modules():
                if hasattr(module, "has_relative_attention_bias"):
                    module.register_forward_pre_hook(whole_bias, with_kwargs=True)
                    module.register_forward_hook(pass_whole_bias)

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        return [
            (Layer(module, SelfAttentionPaths), Layer(module, CrossAttentionPaths))
            for module in self.network.decoder.block
        ]

    @property
    def max_tokens(self) -> int:
        return MOST_POSITIONS

    def embedding_norms(self) -> list[str]:
        """None lies behind the tables; these lie behind the last layers and are as wide."""
        return ["encoder.final_layer_norm", "decoder.final_layer_norm"]

    def update_config_ffn_size(self) -> None:
        """One number is told for both sides."""
        counts = {block.ffn_size for block in self.blocks}
        if len(counts) == 1:
            self.network.config.d_ff = counts.pop()

    def update_config_heads(self) -> None:
        """The table of the bias keeps a column for each head that there was, so no config tells fewer."""

    @property
    def constants(self) -> list[Any]:
        return [*super().constants, self.network.model_dim]

    def keep_layers(self, keep: list[int]) -> None:
        """The bias moves to what is the first layer then."""
        first = self.layers[0].attention
        super().keep_layers(keep)
        hand_over(first, self.layers[0].attention)

    def keep_decoder_layers(self, keep: list[int]) -> None:
        first = self.decoder_layers[0][0].attention
        super().keep_decoder_layers(keep)
        hand_over(first, self.decoder_layers[0][0].attention)

    def embed(self, ids: Tensor, types: Tensor | None) -> Tensor:
        return self.network.encoder.dropout(self.network.encoder.embed_tokens(ids))

    def embed_target(self, ids: Tensor, first: Tensor | int) -> Tensor:
        return self.network.decoder.dropout(self.network.decoder.embed_tokens(ids))

    def encoder_output(self, hidden: Tensor) -> Tensor:
        return self.network.encoder.dropout(self.network.encoder.final_layer_norm(hidden))

    def scores(self, hidden: Tensor) -> Tensor:
        decoder = self.network.decoder
        return self.network.lm_head(decoder.dropout(decoder.final_layer_norm(hidden)) * self.network.model_dim**-0.5)

    def position_bias(self, hidden: Tensor) -> Tensor | None:
        places = torch.arange(hidden.shape[1], device=hidden.device)
        return biases(self.layers[0].attention, places[None, :] - places[:, None])

    def target_bias(self, places: Tensor, tokens: int) -> Tensor | None:
        return biases(
            self.decoder_layers[0][0].attention, torch.arange(tokens, device=places.device)[None] - places[:, None]
        )


def hand_over(first: Any, now: Any) -> None:
    """The bias of the first layer to another that takes its place."""
    if now is not first:
        now.relative_attention_bias, now.has_relative_attention_bias = first.relative_attention_bias, True
        del first.relative_attention_bias
        first.has_relative_attention_bias = False  # it may run later


class Dense(nn.Module):
    """The feed-forward block with its parts under their names. transformers' own asks its last matrix for its weights, which a
    packed one does not have as it wants them."""

    def __init__(self, old: Any) -> None:
        super().__init__()
        self.wi, self.wo, self.dropout, self.act = old.wi, old.wo, old.dropout, old.act

    def forward(self, hidden: Tensor) -> Tensor:
        return self.wo(self.dropout(self.act(self.wi(hidden))))


def biases(attention: Any, distances: Tensor) -> Tensor:
    """(rows, tokens) of distances from query to key to (1, heads, rows, tokens)."""
    rows = attention._relative_position_bucket(
        distances,
        bidirectional=not attention.is_decoder,
        num_buckets=attention.relative_attention_num_buckets,
        max_distance=attention.relative_attention_max_distance,
    )
    return attention.relative_attention_bias(rows).permute(2, 0, 1)[None]


def whole_bias(attention: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """transformers hands the first layer's bias on to all others, which may have other heads left: so it is that of all heads there
    ever were, and each layer picks its own (`edits/heads.py`)."""
    if kwargs.get("position_bias") is None:
        kwargs = {**kwargs, "position_bias": _made(attention, args[0], kwargs)}
    attention.whole_bias = kwargs["position_bias"]
    return args, kwargs


def _made(attention: Any, hidden: Tensor, kwargs: dict) -> Tensor:
    if not attention.has_relative_attention_bias:
        return hidden.new_zeros(1, attention.inner_dim // attention.key_value_proj_dim, 1, 1)
    past = kwargs.get("past_key_values")
    before = 0 if past is None else int(past.get_seq_length(attention.layer_idx))
    return attention.compute_bias(
        hidden.shape[1], before + hidden.shape[1], device=hidden.device, past_seen_tokens=before
    )


def pass_whole_bias(attention: nn.Module, args: tuple, output: tuple) -> tuple:
    whole = attention.whole_bias
    del attention.whole_bias  # or it would be copied with the network
    return output[0], whole, *output[2:]
