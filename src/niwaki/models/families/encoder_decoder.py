"""An encoder of another family with a decoder behind it (`models/networks/encoder_decoder.py`)."""

from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.models.family import Config, DecoderPaths, Family, HeadPaths, LayerPaths, Network, family_of

OWN = LayerPaths(
    attention_module="own",
    query="own.query",
    key="own.key",
    value="own.value",
    out="own.out",
    attention_norm="own.norm",
    attention_dropout="dropout",
    out_dropout="dropout",
)
CROSS = LayerPaths(
    attention_module="other",
    query="other.query",
    key="other.key",
    value="other.value",
    out="other.out",
    attention_norm="other.norm",
    ffn_in="ffn_in",
    activation="activation",
    ffn_out="ffn_out",
    ffn_norm="ffn_norm",
    attention_dropout="dropout",
    out_dropout="dropout",
    ffn_dropout="dropout",
)


if TYPE_CHECKING:
    from transformers import PretrainedConfig


class EncoderDecoder(Family):
    in_transformers = False
    head = HeadPaths(per_token=False)
    decoder = DecoderPaths(
        "decoder.layer",
        OWN,
        CROSS,
        heads_key="decoder_heads",
        ffn_size_key="decoder_ffn_size",
        part="own_table",
        part_without_layers="prefix",
        has_own_tokenizer=False,
    )

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks.encoder_decoder import register_networks

        register_networks()

    @classmethod
    def check_config(cls, config: Config) -> None:
        name = str(config.get("niwaki_encoder", "bert"))
        encoder = family_of(name)
        if encoder.decoder is not None:
            raise InputError(f"config: niwaki_encoder '{name}' writes already; a decoder is for a family that reads")
        by_distance = encoder.relative is not None or (
            encoder.layer is not None and encoder.layer.stack.mixer != "attention"
        )
        if config.get("decoder_layers") == 0 and by_distance:
            raise InputError(
                f"config: niwaki_encoder '{name}' reads by distance, which tokens of two texts have none of; it needs a decoder (decoder_layers)"
            )

        if config.get("decoder_layers") == 0 and encoder.inputs.reads == "images":
            raise InputError(
                f"config: niwaki_encoder '{name}' reads images, so it cannot generate; it needs a decoder (decoder_layers)"
            )
        encoder.check_config({**config, "model_type": name})

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from niwaki.models.adapting import adapt_layers

        super().adapt_network(network)
        adapt_layers(network, cls.encoder(network.config))

    @classmethod
    def encoder(cls, config: "PretrainedConfig") -> type[Family]:
        return family_of(str(config.niwaki_encoder))
