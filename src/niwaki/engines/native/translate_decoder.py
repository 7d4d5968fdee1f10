"""Translates networks that generate text: their encoder as any other, and their decoder."""

from typing import TYPE_CHECKING

from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.native import decoder_program as d
from niwaki.engines.native import program as p
from niwaki.engines.native import stores as s
from niwaki.engines.native.translate import Translator, translated
from niwaki.models.family import Network
from niwaki.models.layer import Layer
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.parts.decoders._decoder import Decoder

if TYPE_CHECKING:
    from niwaki.models.tables import TiedEmbedding

DECODERS = {"shared_table", "own_table"}
EMBEDDINGS = {"shared_table": "shared", "own_table": "own"}


class DecoderTranslator(Translator):
    def program(self) -> d.TextProgram:
        decoder = self.anatomy.decoder
        assert decoder is not None
        kind = translated(decoder, "decoder", DECODERS)
        return d.TextProgram(
            **self.encoder(),
            per_token=True,
            decoder=d.Decoder(
                **getattr(self, EMBEDDINGS[kind])(decoder),
                layers=[self.decoder_layer(*pair) for pair in decoder.layers],
            ),
        )

    def shared(self, decoder: Decoder) -> Json:
        """Fields of a decoder that reads and scores tokens with the encoder's table."""
        output = self.anatomy.head.final or self.anatomy.inputs.token_table
        bias = self.name_or_none("final_logits_bias")
        return {**side_embeddings(self, self.network.get_decoder()), "output": self.output(output, bias)}

    def own(self, decoder: Decoder) -> Json:
        """Fields of a decoder with tables of its own."""
        module, width = self.network.decoder, self.anatomy.hidden_size
        path, sines = decoder.token_tables[0], s.Sinusoids(rows=decoder.max_tokens, columns=width)
        return {
            **self.tokens(path),
            "token_scale": 1.0 if module.positions is not None else width**0.5,
            "positions": sines if module.positions is None else self.matrix(decoder.small_tables[0]),
            "embedded": self.norm(decoder.norms[0]),
            "output": self.output(path, None),
        }

    def tokens(self, path: str) -> Json:
        """Fields of a table of tokens."""
        if isinstance(self.modules[path], FactoredTable):
            raise InputError(
                f"native engine: its decoders score tokens with whole tables, and '{path}' is factorized; use onnx"
            )
        return {"tokens": self.matrix(path)}

    def output(self, path: str, bias: str | None) -> list[p.Matrix]:
        self.tokens(path)
        found = self.linear(path)
        return [*found[:-1], found[-1].model_copy(update={"bias": found[-1].bias or bias})]

    def decoder_layer(self, own: Layer, cross: Layer) -> d.DecoderLayer:
        feed_forward = for_decoder(self.feed_forward(cross))
        norm = self.norm(self.at(cross, "ffn_norm"))
        return d.DecoderLayer(own=self.block(own), cross=self.block(cross), **feed_forward, ffn_norm=norm)

    def block(self, layer: Layer) -> d.AttentionBlock:
        fields = for_decoder(self.mixer(layer))
        norm = self.norm(self.at(layer, "attention_norm"))
        return d.AttentionBlock(attention=fields.get("attention"), bias=fields.get("attention_bias"), norm=norm)


def for_decoder(fields: Json) -> Json:
    """Fields of an encoder's layer as those of a decoder's; relative positions are the encoder's."""
    found = dict(fields)
    if "attention" in fields:
        found["attention"] = d.OwnAttention(**{**fields["attention"].model_dump(), "relative": None})
    if "ffn" in fields:
        found["ffn"] = d.Ffn(**fields["ffn"].model_dump())
    return found


def side_embeddings(translator: Translator, side: Network) -> Json:
    """Fields of an encoder, or of a decoder, that borrows the network's table of tokens and has positions of its own."""
    tokens: TiedEmbedding = side.embed_tokens
    path = translator.anatomy.inputs.token_table
    narrow = isinstance(translator.modules[path], FactoredTable)
    norm: nn.Module | None = getattr(side, "layernorm_embedding", None)
    positions = getattr(side, "embed_positions", None)
    if positions is None:
        raise InputError("native engine: it has no relative positions of encoder–decoders; use onnx")
    return {
        "tokens": translator.matrix(f"{path}.table" if narrow else path),
        "widen": translator.linear(f"{path}.up") if narrow else None,
        "token_scale": float(tokens.scale),
        "positions": translator.matrix(translator.paths[id(positions)]),
        "skipped_positions": positions.offset,
        "embedded": None if norm is None else translator.norm(translator.paths[id(norm)]),
    }
