"""Marian (Junczys-Dowmunt et al. 2018): BART's layers, sinusoidal positions, and no norm behind the embeddings."""

from dataclasses import replace
from typing import ClassVar

from niwaki.core.errors import InputError
from niwaki.models.families.bart import Bart
from niwaki.models.family import Config, DecoderPaths, Network


class Marian(Bart):
    decoder: ClassVar[DecoderPaths] = replace(Bart.decoder, begins_with_bos=False)
    inputs = replace(Bart.inputs, norms=())
    tokenizers = ("Marian",)
    first_position = 0
    keys = replace(Bart.keys, also_vocabulary_size=("decoder_vocab_size",))

    @classmethod
    def check_config(cls, config: Config) -> None:
        super().check_config(config)
        if config.get("share_encoder_decoder_embeddings") is False:
            raise InputError(
                "config: a marian with one vocabulary to read and another to write is not supported (share_encoder_decoder_embeddings); take one with a shared vocabulary"
            )

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        super().adapt_network(network)
        for side in (network.model.encoder, network.model.decoder):
            side.embed_tokens.scale, side.embed_scale = side.embed_scale, 1.0  # as BART has it
            side.embed_positions.weight.requires_grad_(False)
