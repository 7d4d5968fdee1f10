"""Translates causal language models: decoders that stand alone."""

from niwaki.core.errors import InputError
from niwaki.engines.native import decoder_program as d
from niwaki.engines.native.translate import Translator, translated
from niwaki.engines.native.translate_decoder import block_of, dense_fields
from niwaki.models.family import final_norm
from niwaki.models.layer import Layer
from niwaki.models.packed.factored import FactoredTable

INPUTS = {"token_vectors", "learned_positions"}


class LanguageTranslator(Translator):
    def program(self) -> d.LanguageProgram:
        anatomy, inputs = self.anatomy, self.anatomy.inputs
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
        own = block_of(self.mixer(layer), self.norm_of(layer, "attention_norm"))
        return d.DecoderLayer(
            own=own, **dense_fields(self.feed_forward(layer)), ffn_norm=self.norm_of(layer, "ffn_norm")
        )
