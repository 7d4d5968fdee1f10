"""The program of a network that generates text: an encoder, and a decoder that attends to its rows.

Like programs of encoders (program.py), it is plain data that may come from an untrusted source, and is checked against its tensors here.
"""

from typing import Annotated, Literal, NamedTuple, cast

from pydantic import Field

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings
from niwaki.engines.native import program as p
from niwaki.engines.native.program_parts import Parts, Sizes, same
from niwaki.engines.native.stores import MOST_ROWS, MOST_WIDTH, ProgramError, Store, Tensors


class AttentionBlock(Settings):
    """Attention with the norm behind it, or before it; a removed one leaves at most a bias."""

    attention: p.Attention | None = None
    bias: str | None = None
    norm: p.Norm


class DecoderLayer(Settings):
    own: AttentionBlock  # attention to the tokens generated so far
    cross: AttentionBlock | None = None  # attention to the encoder's rows
    ffn: p.Ffn | None = None
    ffn_bias: str | None = None
    ffn_norm: p.Norm


class Decoder(Settings):
    """Norms stand behind blocks, or before them and behind the last layer."""

    tokens: Store  # (vocabulary, hidden size)
    widen: p.Linear | None = None  # from factorized token embeddings to the hidden size
    token_scale: float = Field(1.0, gt=0.0, le=MOST_WIDTH)  # vectors of tokens are multiplied by it
    positions: Store | None = None
    skipped_positions: int = Field(0, ge=0, le=p.MOST_POSITIONS)  # rows of that table before the first token's
    longest: int = Field(p.MOST_POSITIONS, ge=1, le=p.MOST_POSITIONS)  # the maximum number of tokens
    embedded: p.Norm | None = None
    pre_norm: bool = False
    last: p.Norm | None = None
    output_scale: float | None = Field(None, gt=0.0, le=1.0)  # what that gives is multiplied by it
    layers: Annotated[list[DecoderLayer], Field(min_length=1, max_length=p.MOST_LAYERS)]
    output: p.Linear  # from hidden states to a logit for each token


class TextProgram(p.Program):
    """The encoder's rows take the place of its head's logits."""

    head: list[p.Linear] = Field(default_factory=list, max_length=0)
    decoder: Decoder


class LanguageProgram(Settings):
    """A decoder that stands alone: a language model."""

    version: Literal[2] = 2
    language_model: Decoder


class DecoderSizes(NamedTuple):
    width: int
    vocabulary: int
    longest: int  # the maximum number of tokens


class LanguageParts(Parts):
    """The parts of a language model."""

    def __init__(self, program: LanguageProgram, tensors: Tensors, where: str) -> None:
        self.decoder = program.language_model
        super().__init__(cast(p.Program, program), tensors, where)

    def _program(self, program: p.Program) -> Sizes:
        found = _check(self, self.decoder, None)
        return Sizes(found.width, found.vocabulary, found.longest, 0, found.vocabulary)


def check_decoder(parts: Parts, decoder: Decoder) -> DecoderSizes:
    """Checks the decoder's parts, each against the part before it."""
    try:
        return _check(parts, decoder, parts.sizes.width)
    except ProgramError as error:
        raise InputError(f"{parts.where}: {error}; save or export the model again") from None


def _check(parts: Parts, decoder: Decoder, read: int | None) -> DecoderSizes:
    """`read` is the width of the rows that it attends to, if there are any."""
    vocabulary, width = parts.store(decoder.tokens)[0].shape
    width = parts.linear(decoder.widen, width, "decoder: widen") if decoder.widen else width
    longest = decoder.longest
    if decoder.positions:
        positions, wide = parts.store(decoder.positions)[0].shape
        same(wide, width, "decoder: the width of positions")
        longest = min(longest, positions - decoder.skipped_positions)
        if longest < 1:
            raise ProgramError(f"decoder: {positions} positions, of which {decoder.skipped_positions} are skipped")
    for name, norm in (("embedded", decoder.embedded), ("last", decoder.last)):
        parts.norm(norm, width, f"decoder: {name}")
    if decoder.last and not decoder.pre_norm:
        raise ProgramError("decoder: a norm behind the last layer, whose norms stand behind blocks")
    if decoder.output_scale and not decoder.last:
        raise ProgramError("decoder: a scale of outputs, and no norm behind the last layer")
    for number, layer in enumerate(decoder.layers):
        _check_layer(parts, layer, width, read, longest, f"decoder layer {number}")
        if layer.ffn and layer.ffn.gate and not decoder.pre_norm:
            raise ProgramError(f"decoder layer {number}: a gate, and norms behind blocks")
    same(parts.linear(decoder.output, width, "decoder: output", MOST_ROWS), vocabulary, "decoder: outputs")
    return DecoderSizes(width, vocabulary, longest)


def _check_layer(parts: Parts, layer: DecoderLayer, width: int, read: int | None, longest: int, name: str) -> None:
    if (layer.cross is None) != (read is None):
        raise ProgramError(f"{name}: attention to an encoder's rows, and no encoder, or the other way round")
    for block, inputs in ((layer.own, width), (layer.cross, read)):
        if block is None:
            continue
        if block.attention is not None:
            _check_attention(block.attention, block is layer.own, name)
            parts.attention(block.attention, width, longest, name, inputs)
        parts.bias(block.bias, width, name)
        parts.norm(block.norm, width, name)
    parts.ffn(layer.ffn, width, name)
    parts.bias(layer.ffn_bias, width, name)
    parts.norm(layer.ffn_norm, width, name)


def _check_attention(of: p.Attention, own: bool, name: str) -> None:
    if of.window is not None:
        raise ProgramError(f"{name}: a decoder's attention has no windows")
    if not own and (of.key_heads or of.rotary or of.relative):
        raise ProgramError(
            f"{name}: attention to an encoder's rows has no shared keys, no rotary and no relative positions"
        )
