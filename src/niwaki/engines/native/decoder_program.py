"""The program of a network that generates text: an encoder, and a decoder that attends to its rows.

Like programs of encoders (program.py), it is plain data that may come from an untrusted source, and is checked against its tensors here.
"""

from typing import Annotated, NamedTuple

from pydantic import Field

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings
from niwaki.engines.native import program as p
from niwaki.engines.native.stores import MOST_WIDTH, ProgramError, Store


class AttentionBlock(Settings):
    """Attention with the norm behind it; a removed one leaves at most a bias."""

    attention: p.Attention | None = None
    bias: str | None = None
    norm: p.Norm


class DecoderLayer(Settings):
    own: AttentionBlock  # attention to the tokens generated so far
    cross: AttentionBlock  # attention to the encoder's rows
    ffn: p.Ffn | None = None
    ffn_bias: str | None = None
    ffn_norm: p.Norm


class Decoder(Settings):
    """A post-norm decoder."""

    tokens: Store  # (vocabulary, hidden size)
    widen: p.Linear | None = None  # from factorized token embeddings to the hidden size
    token_scale: float = Field(1.0, gt=0.0, le=MOST_WIDTH)  # vectors of tokens are multiplied by it
    positions: Store
    skipped_positions: int = Field(0, ge=0, le=p.MOST_POSITIONS)  # rows of that table before the first token's
    embedded: p.Norm | None = None
    layers: Annotated[list[DecoderLayer], Field(min_length=1, max_length=p.MOST_LAYERS)]
    output: p.Linear  # from hidden states to a logit for each token


class TextProgram(p.Program):
    """The encoder's rows take the place of its head's logits."""

    head: list[p.Linear] = Field(default_factory=list, max_length=0)
    decoder: Decoder


class DecoderSizes(NamedTuple):
    vocabulary: int
    longest: int  # the maximum number of generated tokens


def check_decoder(parts: p.Parts, decoder: Decoder) -> DecoderSizes:
    """Checks the decoder's parts, each against the part before it."""
    try:
        return _check(parts, decoder, parts.sizes.width)
    except ProgramError as error:
        raise InputError(f"{parts.where}: {error}; save or export the model again") from None


def _check(parts: p.Parts, decoder: Decoder, read: int) -> DecoderSizes:
    vocabulary, width = parts.store(decoder.tokens)[0].shape
    width = parts.linear(decoder.widen, width, "decoder: widen") if decoder.widen else width
    positions, wide = parts.store(decoder.positions)[0].shape
    p.same(wide, width, "decoder: the width of positions")
    longest = positions - decoder.skipped_positions
    if not 1 <= longest <= p.MOST_POSITIONS:
        raise ProgramError(f"decoder: {positions} positions, of which {decoder.skipped_positions} are skipped")
    if decoder.embedded:
        parts.norm(decoder.embedded, width, "decoder: embedded")
    for number, layer in enumerate(decoder.layers):
        _check_layer(parts, layer, width, longest, read, f"decoder layer {number}")
    p.same(parts.linear(decoder.output, width, "decoder: output", p.MOST_ROWS), vocabulary, "decoder: outputs")
    return DecoderSizes(vocabulary, longest)


def _check_layer(parts: p.Parts, layer: DecoderLayer, width: int, longest: int, read: int, name: str) -> None:
    for block, inputs in ((layer.own, width), (layer.cross, read)):
        if block.attention is not None:
            if block.attention.relative is not None:
                raise ProgramError(f"{name}: a decoder's attention has no relative positions")
            parts.attention(block.attention, width, longest, name, inputs)
        parts.bias(block.bias, width, name)
        parts.norm(block.norm, width, name)
    parts.ffn(layer.ffn, width, name)
    parts.bias(layer.ffn_bias, width, name)
    parts.norm(layer.ffn_norm, width, name)
