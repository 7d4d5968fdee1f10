"""Translates a model into a program for the native engine. Needs torch; running the program does not."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.native import program as p
from niwaki.engines.native import stores as s
from niwaki.engines.native.library import MAX_FACTORS
from niwaki.engines.native.translate_feed_forwards import FEED_FORWARDS, activation_of
from niwaki.engines.native.translate_inputs import INPUTS
from niwaki.engines.native.translate_mixers import MIXERS
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.deltas._delta import Tuned
from niwaki.models.family import final_norm
from niwaki.models.layer import NORMS, Layer, reduction_of
from niwaki.models.module_paths import leaf_paths
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear
from niwaki.models.packed.kronecker import Kronecker
from niwaki.models.packed.low_bit import LowBit
from niwaki.models.packed.sparse import Sparse
from niwaki.models.packed.static import StaticInt8Linear
from niwaki.models.packed.store import Floats, StoredLinear, StoredTable
from niwaki.models.parts._part import Part
from niwaki.models.parts.decoders._decoder import Decoder
from niwaki.models.parts.heads._head import inner_norms
from niwaki.models.tables import PackedPositions, Positions
from niwaki.models.ties import first_names

if TYPE_CHECKING:
    from niwaki.engines.native.decoder_program import LanguageProgram

HEADS = {"dense"}


def translate(network: Network, anatomy: Anatomy) -> "p.Program | LanguageProgram":
    """The program, with tensor names as in the weights file. Rejects networks that the kernels do not support."""
    from niwaki.engines.native.translate_decoder import DecoderTranslator
    from niwaki.engines.native.translate_language import LanguageTranslator

    if anatomy.decoder is not None:
        return DecoderTranslator(network, anatomy).program()
    speaks = anatomy.layers and anatomy.is_causal and anatomy.head.pretrains and not anatomy.head.inner
    kind = LanguageTranslator if speaks else Translator
    return kind(network, anatomy).program()


class Translator:
    def __init__(self, network: Network, anatomy: Anatomy) -> None:
        self.network, self.anatomy = network, anatomy
        self.saved_names = first_names(network)
        self.paths = {id(module): path for path, module in network.named_modules()}
        self.modules = dict(network.named_modules(remove_duplicate=False))  # a shared module has several paths

    def program(self) -> "p.Program | LanguageProgram":
        anatomy, head = self.anatomy, self.anatomy.head
        translated(head, "head", HEADS)
        norms = inner_norms(head)
        return p.Program(
            **self.encoder(),
            head=[self.linear(path) for path in (*head.inner, head.final)],
            head_activation=self.activation(head.activation),
            answered=self.norm(norms[0]) if norms else None,
            per_token=anatomy.per_token,
            pooling=head.pooling,
            unit_length=head.unit_length,
        )

    def activation(self, name: str) -> p.Activation:
        """Of a head: a function by its name, or a module by its path."""
        return cast(p.Activation, activation_of(self.modules[name]) if name in self.modules else name)

    def encoder(self) -> Json:
        """Fields of a program: all but the head."""
        anatomy = self.anatomy
        if not anatomy.layers:
            raise InputError(
                f"native engine: it runs encoders with attention, which '{self.network.config.model_type}' does not have"
            )
        for layer in anatomy.layers:  # before what they need of the input stage
            translated(layer.mixer, "mixer", MIXERS)
        norm = final_norm(anatomy.family)
        return {
            **INPUTS[translated(anatomy.inputs, "input stage", INPUTS)](self),
            "layers": [self.layer(layer) for layer in anatomy.layers],
            "order": anatomy.order,
            "pre_norm": anatomy.layers[0].paths.pre_norm or None,
            "last": self.norm(norm) if norm else None,
            "causal": anatomy.is_causal or None,
        }

    def layer(self, layer: Layer) -> p.Layer:
        if reduction_of(layer) is not None:
            raise InputError("native engine: layers that shorten texts have no translation; use engine 'onnx'")
        attended, widened = (self.norm_of(layer, role) for role in NORMS)
        return p.Layer(**self.mixer(layer), **self.feed_forward(layer), attended=attended, widened=widened)

    def mixer(self, layer: Layer) -> Json:
        """Fields of a layer."""
        return MIXERS[translated(layer.mixer, "mixer", MIXERS)](self, layer)

    def feed_forward(self, layer: Layer) -> Json:
        """Fields of a layer."""
        return FEED_FORWARDS[translated(layer.feed_forward, "feed-forward block", FEED_FORWARDS)](self, layer)

    def norm_of(self, layer: Layer, role: str) -> p.Norm | None:
        return self.norm(self.at(layer, role)) if role in layer.norms else None

    def at(self, layer: Layer, role: str) -> str:
        return f"{self.paths[id(layer.module)]}.{layer.path(role)}"

    def linear(self, path: str) -> list[p.Matrix]:
        """Factorized matrices stay a list of factors; a sum of Kronecker products becomes one matrix."""
        if isinstance(self.modules[path], Tuned):
            raise InputError(
                f"native engine: '{path}' has a delta; use engine 'onnx', or export the model for native, which merges LoRA and (IA)³"
            )
        if isinstance(self.modules[path], Kronecker):
            return [p.Matrix(weight=self.kronecker(path), bias=self.name_or_none(f"{path}.bias"))]
        found = [
            p.Matrix(weight=self.matrix(leaf), bias=self.name_or_none(f"{leaf}.bias"))
            for leaf in leaf_paths(self.network, path)
        ]
        if len(found) > MAX_FACTORS:
            raise InputError(
                f"native engine: '{path}' is a product of {len(found)} matrices; the maximum is {MAX_FACTORS}"
            )
        return found

    def kronecker(self, path: str) -> s.Kronecker:
        return s.Kronecker(
            first=self.matrix(f"{path}.first"), second=self.matrix(f"{path}.second"), terms=self.modules[path].terms
        )

    def matrix(self, path: str) -> p.Store:
        """A weight matrix or an embedding table."""
        module = self.modules[path]
        if isinstance(module, Int8Linear | StaticInt8Linear | Int8Embedding):
            transposed = not isinstance(module, Int8Embedding)
            return s.Int8(weight=self.name(f"{path}.weight"), scale=self.name(f"{path}.scale"), transposed=transposed)
        if isinstance(module, StoredLinear | StoredTable):
            return self.store(f"{path}.store")
        if isinstance(module, PackedPositions):
            return s.Int8(weight=self.name(f"{path}.weight"), scale=self.name(f"{path}.scale"))
        if isinstance(module, nn.Linear | nn.Embedding | Positions):
            return s.Floats(weight=self.name(f"{path}.weight"))
        raise unknown(path, module)

    def store(self, path: str) -> Any:
        module = self.modules[path]
        if isinstance(module, Floats):
            return s.Floats(weight=self.name(f"{path}.values"))
        if isinstance(module, LowBit):
            return s.LowBit(
                words=self.name(f"{path}.words"),
                scale=self.name(f"{path}.scale"),
                base=module.base,
                group=module.group,
                columns=module.columns,
            )
        if isinstance(module, Sparse):
            return s.Sparse(
                bits=self.name(f"{path}.bits"),
                values=self.store(f"{path}.nonzeros"),
                rows=module.rows,
                columns=module.columns,
            )
        raise unknown(path, module)

    def norm(self, path: str) -> p.Norm:
        module = self.modules[path]
        epsilon = module.eps if hasattr(module, "eps") else module.variance_epsilon
        shift = self.name_or_none(f"{path}.bias")
        centers = isinstance(module, nn.LayerNorm) and shift is None
        return p.Norm(gain=self.name(f"{path}.weight"), shift=shift, centers=centers or None, epsilon=float(epsilon))

    def name(self, name: str) -> str:
        """The name in the weights file, where a shared tensor is stored once."""
        return self.saved_names[name]

    def name_or_none(self, name: str) -> str | None:
        return self.saved_names.get(name)


def translated(part: Part | type[Part] | Decoder, what: str, known: Collection[str]) -> str:
    """The method that translates a part. Rejects parts without a translation."""
    if part.native is None or part.native not in known:
        reason = f" ({part.no_native})" if part.no_native else ""
        label = type(part).__module__.rpartition(".")[2] if isinstance(part, Decoder) else part.label()
        raise InputError(f"native engine: {what} '{label}' has no translation{reason}; use engine 'onnx'")
    return part.native


def unknown(path: str, module: object) -> InputError:
    return InputError(f"native engine: it does not support '{path}', which is a {type(module).__name__}")
