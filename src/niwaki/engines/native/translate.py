"""Translates a model into a program for the native engine. Needs torch; running the program does not."""

from typing import TYPE_CHECKING, Any

from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.native import program as p
from niwaki.engines.native import stores as s
from niwaki.engines.native.library import MAX_FACTORS
from niwaki.models.activation_functions import activation_name
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.deltas._delta import Tuned
from niwaki.models.layer import Layer
from niwaki.models.module_paths import leaf_paths
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear
from niwaki.models.packed.kronecker import Kronecker
from niwaki.models.packed.low_bit import LowBit
from niwaki.models.packed.sparse import Sparse
from niwaki.models.packed.static import StaticInt8Linear
from niwaki.models.packed.store import Floats, StoredLinear, StoredTable
from niwaki.models.parts._part import Part
from niwaki.models.parts.decoders._decoder import Decoder
from niwaki.models.tables import PackedPositions, Positions
from niwaki.models.ties import first_names

if TYPE_CHECKING:
    from niwaki.engines.native.decoder_program import LanguageProgram

INPUTS, MIXERS, FEED_FORWARDS, HEADS = {"token_embeddings", "shared_table"}, {"attention"}, {"dense"}, {"dense"}


def translate(network: Network, anatomy: Anatomy) -> "p.Program | LanguageProgram":
    """The program, with tensor names as in the weights file. Rejects networks that the kernels do not support."""
    from niwaki.engines.native.translate_decoder import DecoderTranslator
    from niwaki.engines.native.translate_language import LanguageTranslator

    if anatomy.decoder is not None:
        return DecoderTranslator(network, anatomy).program()
    kind = LanguageTranslator if anatomy.layers and anatomy.is_causal else Translator
    return kind(network, anatomy).program()


class Translator:
    mixers, feed_forwards, may_be_pre_norm = MIXERS, FEED_FORWARDS, False

    def __init__(self, network: Network, anatomy: Anatomy) -> None:
        self.network, self.anatomy = network, anatomy
        self.saved_names = first_names(network)
        self.paths = {id(module): path for path, module in network.named_modules()}
        self.modules = dict(network.named_modules(remove_duplicate=False))  # a shared module has several paths

    def program(self) -> "p.Program | LanguageProgram":
        anatomy = self.anatomy
        translated(anatomy.head, "head", HEADS)
        return p.Program(
            **self.encoder(),
            head=[self.linear(path) for path in (*anatomy.head.inner, anatomy.head.final)],
            head_activation=anatomy.head.activation,
            per_token=anatomy.per_token,
            pooling=anatomy.head.pooling,
            unit_length=anatomy.head.unit_length,
        )

    def encoder(self) -> Json:
        """Fields of a program: all but the head."""
        anatomy = self.anatomy
        if not anatomy.layers:
            raise InputError(
                f"native engine: it runs encoders with attention, which '{self.network.config.model_type}' does not have"
            )
        for layer in anatomy.layers:  # before what they need of the input stage
            translated(layer.mixer, "mixer", MIXERS)
        return {
            **getattr(self, translated(anatomy.inputs, "input stage", INPUTS))(),
            "layers": [self.layer(layer) for layer in anatomy.layers],
            "order": anatomy.order,
        }

    def token_embeddings(self) -> Json:
        """Fields of a program."""
        inputs = self.anatomy.inputs
        tables = dict(zip(("positions", "types"), inputs.small_tables, strict=False))
        narrow = isinstance(inputs.tokens, FactoredTable)
        return {
            "tokens": self.matrix(f"{inputs.token_table}.table" if narrow else inputs.token_table),
            "widen": self.linear(f"{inputs.token_table}.up") if narrow else None,
            "positions": self.matrix(tables["positions"]),
            "first_position": int(self.network.config.pad_token_id) + 1 if inputs.paths.skipped_positions else 0,
            "types": self.matrix(tables["types"]) if "types" in tables else None,
            "reads_types": inputs.paths.uses_token_types,
            "embedded": self.norm(inputs.norms[0]),
            "project": self.linear(inputs.projection) if inputs.projection else None,
        }

    def shared_table(self) -> Json:
        """Fields of a program: the embeddings of an encoder–decoder with one table."""
        from niwaki.engines.native.translate_decoder import side_embeddings

        return {**side_embeddings(self, self.network.get_encoder()), "first_position": 0}

    def layer(self, layer: Layer) -> p.Layer:
        attended, widened = (self.norm(self.at(layer, role)) for role in ("attention_norm", "ffn_norm"))
        return p.Layer(**self.mixer(layer), **self.feed_forward(layer), attended=attended, widened=widened)

    def mixer(self, layer: Layer) -> Json:
        """Fields of a layer."""
        found: Json = getattr(self, translated(layer.mixer, "mixer", self.mixers))(layer)
        if layer.paths.pre_norm and not self.may_be_pre_norm:
            raise InputError("native engine: its norms stand behind blocks, and this network's before them; use onnx")
        return found

    def feed_forward(self, layer: Layer) -> Json:
        """Fields of a layer."""
        found: Json = getattr(self, translated(layer.feed_forward, "feed-forward block", self.feed_forwards))(layer)
        return found

    def at(self, layer: Layer, role: str) -> str:
        return f"{self.paths[id(layer.module)]}.{layer.path(role)}"

    def attention(self, layer: Layer) -> Json:
        """Fields of a layer."""
        if layer.mixer.removed:
            return {"attention_bias": self.name_or_none(f"{self.at(layer, 'out')}.bias")}
        if layer.mixer.prefix is not None:
            raise InputError("native engine: it reads no trained keys and values (prefix_tuning); use engine 'onnx'")
        matrices = {role: self.linear(self.at(layer, role)) for role in ("query", "key", "value", "out")}
        relative = self.relative(layer)
        return {"attention": p.Attention(heads=layer.heads, head_size=layer.head_size, relative=relative, **matrices)}

    def dense(self, layer: Layer) -> Json:
        if layer.feed_forward.removed:
            return {"ffn_bias": self.name_or_none(f"{self.at(layer, 'ffn_out')}.bias")}
        activation: Any = activation_of(layer.part("activation"))
        up, down = (self.linear(self.at(layer, role)) for role in ("ffn_in", "ffn_out"))
        return {"ffn": p.Ffn(up=up, activation=activation, down=down)}

    def relative(self, layer: Layer) -> p.Relative | None:
        family = self.anatomy.family
        if family.relative is None:
            return None
        heads = getattr(layer.part("attention_module"), "remaining_heads", None)
        return p.Relative(
            table=self.name(f"{family.body}.{family.relative.table}.weight"),
            rows=family.relative.rows(self.anatomy.trunk, self.anatomy.max_tokens),
            heads=list(range(layer.heads)) if heads is None else [int(head) for head in heads],
        )

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
        return p.Norm(gain=self.name(f"{path}.weight"), shift=shift, epsilon=float(epsilon))

    def name(self, name: str) -> str:
        """The name in the weights file, where a shared tensor is stored once."""
        return self.saved_names[name]

    def name_or_none(self, name: str) -> str | None:
        return self.saved_names.get(name)


def translated(part: Part | type[Part] | Decoder, what: str, known: set[str]) -> str:
    """The method that translates a part. Rejects parts without a translation."""
    if part.native is None or part.native not in known:
        label = type(part).__module__.rpartition(".")[2] if isinstance(part, Decoder) else part.label()
        raise InputError(f"native engine: {what} '{label}' has no translation; use engine 'onnx'")
    return part.native


def unknown(path: str, module: object) -> InputError:
    return InputError(f"native engine: it does not support '{path}', which is a {type(module).__name__}")


def activation_of(module: object) -> str:
    """The kernels' name of an activation function. Rejects functions that they do not have."""
    found = activation_name(module)
    if found is None:
        raise InputError(f"native engine: it does not have the activation {type(module).__name__}")
    return found
