"""Encoder-decoders of a given shape, for `from_scratch`: what their configs and tokenizers have that those of encoders do not."""

from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.family import Family
from niwaki.models.model import Model
from niwaki.models.skeleton import CONDITIONAL_GENERATION
from niwaki.tokenization.noise_tokens import SENTINEL
from niwaki.tokenization.training import BOS, EOS, PAD, SPECIAL_TOKENS, UNK

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


def decoder_config(family: type[Family], sizes: Json, decoder_layers: int) -> Json:
    """Further keys of the config, for the encoder's sizes by their keys."""
    decoder, keys = family.decoder, family.keys
    assert decoder is not None
    head_size = {keys.head_size: sizes[keys.hidden_size] // sizes[keys.heads]} if keys.head_size else {}
    start = EOS if decoder.begins_with_bos else PAD
    return {
        **head_size,
        decoder.depth_key: decoder_layers,
        decoder.heads_key: sizes[keys.heads],
        decoder.ffn_size_key: sizes[keys.ffn_size],
        "architectures": [f"AnyFor{CONDITIONAL_GENERATION}"],
        "decoder_start_token_id": SPECIAL_TOKENS.index(start),
        "forced_eos_token_id": SPECIAL_TOKENS.index(EOS),
        "is_encoder_decoder": True,
    }


def reject_pairs_of_texts(model: Model, family: str) -> None:
    """Tasks on pairs of texts have a tokenizer for the targets, which is none of the network's."""
    answer = getattr(model.network.config, "niwaki_answer", None)
    if isinstance(answer, dict) and answer.get("kind") == "text":
        raise InputError(
            f"from_scratch: a network of family '{family}' is pretrained on plain texts; take task 'denoising' and name its model in the "
            "recipe of this task, or use 'add_decoder' with encoder = 'fresh'"
        )


def as_transformers(tokenizer: Tokenizer, sentinels: int, mask: str) -> "PreTrainedTokenizerFast":
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BOS,
        eos_token=EOS,
        unk_token=UNK,
        mask_token=mask,
        extra_special_tokens=[SENTINEL.format(number) for number in range(sentinels)],
        model_input_names=["input_ids", "attention_mask"],
    )
