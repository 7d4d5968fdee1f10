"""Translates networks that generate text: their encoder as any other, and their decoder."""

from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.native import decoder_program as d
from niwaki.engines.native import program as p
from niwaki.engines.native import stores as s
from niwaki.engines.native.translate import Translator, translated
from niwaki.engines.native.translate_inputs import side_embeddings
from niwaki.engines.native.translate_mixers import changed, remaining_heads
from niwaki.models.layer import Layer
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.parts.decoders._decoder import Decoder
from niwaki.models.parts.decoders.relative import Relative, rows_by_distance

if TYPE_CHECKING:
    pass

DECODERS = {"shared_table": "shared", "own_table": "own", "relative": "relative"}


class DecoderTranslator(Translator):
    def program(self) -> d.TextProgram:
        decoder = self.anatomy.decoder
        assert decoder is not None
        kind = translated(decoder, "decoder", DECODERS)
        return d.TextProgram(
            **self.encoder() | self.encoder_end(decoder),
            per_token=True,
            decoder=d.Decoder(
                **getattr(self, DECODERS[kind])(decoder),
                pre_norm=decoder.layers[0][0].paths.pre_norm,
                layers=[self.decoder_layer(*pair) for pair in decoder.layers],
            ),
        )

    def shared(self, decoder: Decoder) -> Json:
        """Fields of a decoder that reads and scores tokens with the encoder's table."""
        output = self.anatomy.head.final or self.anatomy.inputs.token_table
        bias = self.name_or_none("final_logits_bias")
        return {
            **side_embeddings(self, self.network.get_decoder()),
            "output": self.output(output, bias),
            "last": self.norm(decoder.norms[-1]) if decoder.norms else None,
        }

    def relative(self, decoder: Decoder) -> Json:
        """Fields of one whose first layer has what all add to scores by distance."""
        assert isinstance(decoder, Relative)
        scale = decoder.output_scale
        return {**self.shared(decoder), "output_scale": None if scale == 1.0 else scale}

    def encoder_end(self, decoder: Decoder) -> Json:
        """Fields of a program: the norm behind the encoder's last layer, where the decoder names it."""
        return {"last": self.norm(decoder.norms[0])} if isinstance(decoder, Relative) else {}

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
        blocks = {"own": self.block(own, self.distances(own)), "cross": self.block(cross, None)}
        return d.DecoderLayer(
            **blocks, **dense_fields(self.feed_forward(cross)), ffn_norm=self.norm_of(cross, "ffn_norm")
        )

    def block(self, layer: Layer, distances: p.Relative | None) -> d.AttentionBlock:
        return block_of(changed(self.mixer(layer), {"relative": distances}), self.norm_of(layer, "attention_norm"))

    def distances(self, layer: Layer) -> p.Relative | None:
        """What a layer of the decoder adds to scores; the encoder's is another one."""
        decoder = self.anatomy.decoder
        if not isinstance(decoder, Relative):
            return None
        first = decoder.layers[0][0].part("attention_module")
        table = self.paths[id(first.relative_attention_bias)]
        heads = remaining_heads(layer)
        return p.Relative(
            table=self.name(f"{table}.weight"),
            rows=rows_by_distance(first, decoder.max_tokens),
            heads=list(range(layer.heads)) if heads is None else heads,
        )


def block_of(fields: Json, norm: p.Norm | None) -> d.AttentionBlock:
    """Fields of an encoder's layer as a block of a decoder."""
    found: p.Attention | None = fields.get("attention")
    if found is not None and found.window is not None:
        raise InputError("native engine: its decoders have no windows; use onnx")
    return d.AttentionBlock(attention=found, bias=fields.get("attention_bias"), norm=norm)


def dense_fields(fields: Json) -> Json:
    """Fields of a feed-forward block of a decoder."""
    if "experts" in fields:
        raise InputError("native engine: its decoders have no experts; use onnx")
    return fields
