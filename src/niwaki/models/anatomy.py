"""One network seen through its family: its parts, by role. Methods ask the anatomy, never the model's name."""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from torch import nn

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError
from niwaki.models.block import Block
from niwaki.models.deltas._delta import without_deltas
from niwaki.models.family import Family, Network, family_of, is_always_causal
from niwaki.models.layer import Layer
from niwaki.models.layer_kinds import layer_of
from niwaki.models.module_paths import leaf_paths
from niwaki.models.packed.removed import Removed
from niwaki.models.parts.heads._head import HEADS, TaskHead, is_head_of
from niwaki.models.parts.inputs._inputs import INPUTS, Inputs

if TYPE_CHECKING:
    from niwaki.models.parts.decoders._decoder import Decoder

DECODERS = Catalog("niwaki.models.parts.decoders", what="decoder")
HEAD = "head"  # where `edits/replace_part.py` puts a head


class Anatomy:
    """`layers` are those of the encoder; `stacks`, `attentions`, `blocks` and `matrices` are of encoder and decoder."""

    def __init__(self, network: Network, family: type[Family] | None = None) -> None:
        self.network = network
        own = family or family_of(str(network.config.model_type))
        self.family = own.encoder(network.config)  # of the encoder, where a decoder was put behind one
        self._decoder_paths = self.family.decoder or own.decoder

    @property
    def trunk(self) -> Any:
        """The encoder."""
        return self.network.get_submodule(self.family.body)

    @property
    def inputs(self) -> Inputs:
        """The input stage."""
        return INPUTS.load(self.family.inputs.part, Inputs)(self.network, self.family)

    @property
    def layers(self) -> list[Layer]:
        """The distinct layers; those of a family that runs one several times are in `order`."""
        if self.family.layer is None:
            return []
        return [layer_of(self.family, module) for module in self.family.layers(self.trunk)]

    @property
    def order(self) -> list[int]:
        """Which of `layers` runs at each depth."""
        return self.family.order(self.network.config, len(self.layers))

    @property
    def head(self) -> Any:
        """A `TaskHead`: that of the network's class, unless another was put in."""
        own = self.network._modules.get(HEAD)
        return own if isinstance(own, TaskHead) else _head_of(self.network)(self.network, self.family)

    @property
    def decoder(self) -> "Decoder | None":
        """Of a sequence-to-sequence network."""
        from niwaki.models.parts.decoders._decoder import Decoder

        paths = self._decoder_paths
        if paths is None:
            return None
        depth = getattr(self.network.config, paths.depth_key)
        part = paths.part if depth or not paths.part_without_layers else paths.part_without_layers
        return DECODERS.load(part, Decoder)(self, paths)

    @property
    def is_seq2seq(self) -> bool:
        return self._decoder_paths is not None

    @property
    def is_causal(self) -> bool:
        """Whether tokens attend to earlier ones alone."""
        if is_always_causal(self.family):
            return True
        vocabulary = self.family.head.vocabulary
        known = vocabulary is not None and vocabulary.may_be_causal and not self.is_seq2seq
        return known and bool(self.network.config.is_decoder)

    @property
    def per_token(self) -> bool:
        """Whether there are logits for every token."""
        return self.head.per_token

    @property
    def stacks(self) -> dict[str, list[tuple[Layer, ...]]]:
        """Whole layers that follow one another, by what one of them is called: each as the attentions that it has."""
        found: dict[str, list[tuple[Layer, ...]]] = {"layer": [(layer,) for layer in self.layers]}
        if self.decoder is not None and self.decoder.has_own_layers:
            found["decoder layer"] = [*self.decoder.layers]
        return found

    @property
    def every_layer(self) -> list[Layer]:
        """All of encoder and decoder; a decoder's layer counts as two."""
        return [layer for stack in self.stacks.values() for whole in stack for layer in whole]

    @property
    def attentions(self) -> list[Layer]:
        """Those that have heads."""
        return [layer for layer in self.every_layer if layer.has_attention]

    @property
    def blocks(self) -> list[Block]:
        """Groups of neurons that can be cut."""
        key = self.family.keys.ffn_size
        found = [block for layer in self.layers for block in layer.feed_forward.blocks(key)]
        if self.decoder is not None and self.decoder.has_own_layers:
            key = self.decoder.paths.ffn_size_key
            found += [block for _, cross in self.decoder.layers for block in cross.feed_forward.blocks(key)]
        return [*found, *self.family.blocks(self.network)]

    @property
    def hidden_size(self) -> int:
        layers = self.layers
        return len(layers[0].part(layers[0].norms[0]).weight) if layers else int(self.tokens.embedding_dim)

    @property
    def tokens(self) -> Any:
        """The table with a vector for each token that is read."""
        return self.inputs.tokens

    @property
    def max_tokens(self) -> int:
        limits = (layer.mixer.max_tokens for layer in self.layers)
        return min([self.inputs.max_tokens, *(limit for limit in limits if limit)])

    def require_layers(self, what: str) -> None:
        """Rejects networks without attention layers, in the name of what needs them."""
        if not self.layers:
            raise InputError(
                f"{what}: a model of family '{self.network.config.model_type}' has no attention layers; leave '{what}' out ('logits' distils "
                "it, 'ffn' and 'vocabulary' cut it, 'int8' packs it), or start from a transformer"
            )

    def matrices(self) -> Iterator[str]:
        """Paths, from the network, of all matrices but the head's; of one that is made of several, of these."""
        for path in self.whole_matrices():
            yield from leaf_paths(self.network, path)

    def whole_matrices(self) -> Iterator[str]:
        """The same with those that are made of several as one; deltas around a matrix are not part of it."""
        if self.inputs.projection:
            yield self.inputs.projection
        root = {id(module): name for name, module in self.network.named_modules()}
        for layer in self.every_layer:
            for role in layer.matrices():
                if not isinstance(layer.part(role), Removed):
                    path = f"{root[id(layer.module)]}.{layer.path(role)}"
                    yield without_deltas(self.network, path)
        yield from self.family.matrices(self.network)


def require_equal_sizes(anatomy: Anatomy, what: str) -> None:
    """Rejects layers whose hidden states or parts stay as they are, in the name of what changes them."""
    anatomy.require_layers(what)
    if reason := getattr(anatomy.layers[0], "fixed", ""):
        raise InputError(f"{what}: {reason}")


def reads_one_vector(anatomy: Anatomy) -> bool:
    """Whether the head reads one vector of a text, and the network has layers."""
    return bool(anatomy.layers) and not anatomy.is_seq2seq and not anatomy.per_token


def shares_vocabulary(anatomy: Anatomy) -> bool:
    """Whether a decoder reads and generates the tokens of the input."""
    return anatomy.decoder is not None and anatomy.decoder.paths.has_own_tokenizer


def anatomy_of(network: Network) -> Anatomy:
    """The anatomy of a network, or an error that names the families there are."""
    return Anatomy(network)


@cache
def heads_by_architecture() -> dict[str, type[TaskHead]]:
    """Heads by how the names of transformers' classes with them end."""
    found = [HEADS.load(name, TaskHead) for name in HEADS.names()]
    return {head.architecture: head for head in found if head.architecture and not issubclass(head, nn.Module)}


def _head_of(network: Network) -> type[TaskHead]:
    heads, name = heads_by_architecture(), type(network).__name__
    found = (head for head in heads.values() if is_head_of(head, name))
    return next(found, None) or next(head for head in heads.values() if head.generates)
