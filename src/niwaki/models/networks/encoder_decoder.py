"""An encoder–decoder: an encoder of any family with attention layers, and a decoder that generates token by token.

The decoder is that of Vaswani et al. 2017 with a norm after each block; its token table also scores the next token. The encoder is at
the path that its family uses, so that the family's anatomy applies.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, PretrainedConfig, PreTrainedModel
from transformers.activations import ACT2FN

from niwaki.models.family import family_of
from niwaki.models.networks.callable import CallableNetwork

OWN = "decoder_"  # prefix of the decoder's config keys; all others are the encoder's


class EncoderDecoderConfig(PretrainedConfig):
    """The encoder's keys are added under the names of its family. `config_rules` limits the values."""

    model_type = "encoder_decoder"
    niwaki_encoder: str = "bert"  # the encoder's family
    decoder_layers: int = 2  # 0: the encoder's layers generate
    decoder_heads: int = 4
    decoder_ffn_size: int = 128
    decoder_vocabulary_size: int = 100  # tokens of the target vocabulary
    decoder_positions: int = 512  # the maximum number of generated tokens
    decoder_sinusoids: bool = False  # sinusoidal positions instead of a table
    decoder_shares_embeddings: bool = False  # encoder and decoder share the vocabulary and the table

    def encoder(self) -> Any:
        values = {
            name: value for name, value in self.to_dict().items() if not name.startswith((OWN, "_", "model_type"))
        }
        return AutoConfig.for_model(self.niwaki_encoder, **values)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.num_attention_heads, self.attention_head_size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm = nn.LayerNorm(width)


class DecoderLayerModule(nn.Module):
    """Holds the parameters; `models/decoding.py` runs them."""

    def __init__(self, config: PretrainedConfig, width: int) -> None:
        super().__init__()
        self.own, self.other = (Attention(width, config.decoder_heads) for _ in range(2))
        self.ffn_in = nn.Linear(width, config.decoder_ffn_size)
        self.activation = ACT2FN["gelu"]
        self.ffn_out = nn.Linear(config.decoder_ffn_size, width)
        self.ffn_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)  # default; `train.dropout` overrides it


class Decoder(nn.Module):
    def __init__(self, config: PretrainedConfig, width: int, table: nn.Module | None) -> None:
        super().__init__()
        self.tokens = table or nn.Embedding(config.decoder_vocabulary_size, width)
        self.positions = None if config.decoder_sinusoids else nn.Embedding(config.decoder_positions, width)
        self.norm = nn.LayerNorm(width)
        self.layer = nn.ModuleList(DecoderLayerModule(config, width) for _ in range(config.decoder_layers))

    def embed(self, ids: Tensor, first: Tensor | int = 0) -> Tensor:
        """(batch, tokens) to (batch, tokens, width); `first` is the position of the first token."""
        vectors = self.tokens(ids)
        places = torch.arange(ids.shape[1], device=ids.device) + first
        if self.positions is None:
            return self.norm(vectors * vectors.shape[-1] ** 0.5 + sinusoids(places, vectors.shape[-1]))
        return self.norm(vectors + self.positions(places))


def sinusoids(places: Tensor, width: int) -> Tensor:
    """Sinusoidal positions, (tokens,) to (tokens, width): sines, then cosines, with wavelengths from 2π to 20000π."""
    steps = torch.arange((width + 1) // 2, device=places.device) * (-9.210340371976184 / ((width + 1) // 2))
    angles = places[:, None] * torch.exp(steps)
    return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)[:, :width]


class EncoderDecoderForConditionalGeneration(CallableNetwork, PreTrainedModel):
    config_class = EncoderDecoderConfig
    _supports_sdpa = True  # transformers checks this on a GPU; the encoder may use it

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        family = family_of(config.niwaki_encoder)
        inner = config.encoder()
        for name, value in inner.to_dict().items():  # anatomies read the family's defaults from the config
            if not hasattr(config, name):
                setattr(config, name, value)
        encoder = AutoModel.from_config(inner, attn_implementation=config._attn_implementation)
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None  # only used by text-level heads
        self.add_module(family.body, encoder)
        tokens = encoder.get_submodule(family.inputs.token_table) if config.decoder_shares_embeddings else None
        self.decoder = Decoder(config, getattr(inner, family.keys.hidden_size), tokens)
        self.dropout = nn.Dropout(0.1)  # default; `train.dropout` overrides it
        self.post_init()

    @property
    def encoder(self) -> Any:
        return self.get_submodule(family_of(self.config.niwaki_encoder).body)

    @torch.no_grad()
    def _init_weights(self, module: object) -> None:
        """Matrices as Glorot and Bengio 2010; tables so that a token's score has a variance of about 1."""
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        elif isinstance(module, nn.LayerNorm):
            module.reset_parameters()


def register_networks() -> None:
    AutoConfig.register(EncoderDecoderConfig.model_type, EncoderDecoderConfig, exist_ok=True)
    AutoModelForSeq2SeqLM.register(EncoderDecoderConfig, EncoderDecoderForConditionalGeneration, exist_ok=True)
