"""Translates causal language models: decoders that stand alone."""

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.native import decoder_program as d
from niwaki.engines.native.translate import Translator, translated
from niwaki.engines.native.translate_decoder import for_decoder
from niwaki.models.family import final_norm
from niwaki.models.grouped_heads import key_heads_of
from niwaki.models.layer import Layer
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.rotary import frequencies, rotated

INPUTS, MIXERS, FEED_FORWARDS = {"token_vectors", "learned_positions"}, {"attention", "rotary"}, {"dense", "gated"}


class LanguageTranslator(Translator):
    mixers, feed_forwards, may_be_pre_norm = MIXERS, FEED_FORWARDS, True

    def program(self) -> d.LanguageProgram:
        anatomy, inputs = self.anatomy, self.anatomy.inputs
        if not anatomy.head.pretrains or anatomy.head.inner:
            raise InputError("native engine: of causal networks it runs language models alone; use onnx")
        translated(inputs, "input stage", INPUTS)
        table = inputs.token_table
        if isinstance(self.modules[table], FactoredTable):
            raise InputError(
                f"native engine: its decoders score tokens with whole tables, and '{table}' is factorized; use onnx"
            )
        norm = final_norm(anatomy.family)
        decoder = d.Decoder(
            tokens=self.matrix(table),
            positions=self.matrix(inputs.small_tables[0]) if inputs.small_tables else None,
            longest=anatomy.max_tokens,
            embedded=self.norm(inputs.norms[0]) if inputs.norms else None,
            pre_norm=all(layer.paths.pre_norm for layer in anatomy.layers),
            last=self.norm(norm) if norm else None,
            layers=[self.decoder_layer(anatomy.layers[number]) for number in anatomy.order],
            output=self.linear(anatomy.head.final or table),
        )
        return d.LanguageProgram(language_model=decoder)

    def decoder_layer(self, layer: Layer) -> d.DecoderLayer:
        fields = for_decoder(self.mixer(layer))
        norm, ffn_norm = (self.norm(self.at(layer, role)) for role in ("attention_norm", "ffn_norm"))
        own = d.AttentionBlock(attention=fields.get("attention"), bias=fields.get("attention_bias"), norm=norm)
        return d.DecoderLayer(own=own, **for_decoder(self.feed_forward(layer)), ffn_norm=ffn_norm)

    def rotary(self, layer: Layer) -> Json:
        """Fields of a layer."""
        found = self.attention(layer)
        if "attention" not in found:
            return found
        module = layer.part("attention_module")
        rotation = rotated(module)
        if layer.mixer.window or rotation.kind != "halves":
            raise InputError("native engine: it has no windows and no rotary positions of neighbours; use onnx")
        turned = d.Rotary(frequencies=list(frequencies(rotation)))
        return {
            "attention": d.OwnAttention(
                **found["attention"].model_dump(), key_heads=key_heads_of(module), rotary=turned
            )
        }

    def gated(self, layer: Layer) -> Json:
        """Fields of a layer."""
        found = self.dense(layer)
        if "ffn" not in found:
            return found
        gate = self.linear(self.at(layer, "ffn_gate"))
        return {"ffn": d.Ffn(**found["ffn"].model_dump(), gate=gate)}
