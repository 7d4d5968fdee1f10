"""A model family as data: where its modules lie, what its config calls things, which parts it is made of.

One file in `families/` for each, named as transformers names the `model_type`. No torch here: deployments read configs too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PretrainedConfig

    from niwaki.models.block import Block

Network = Any  # a transformers model: an nn.Module whose further attributes are its family's own
Config = Json  # the content of a config.json
FAMILIES = Catalog("niwaki.models.families", what="model family")


@dataclass(frozen=True)
class StackRules:
    """What holds for all layers of a network."""

    final_norm: str = ""  # behind the last layer, relative to the body
    causal: bool = False  # tokens attend to earlier ones alone, whatever the config says
    transposed: tuple[str, ...] = ()  # matrices that checkpoints store as (inputs, outputs),
    fused: tuple[str, ...] = ()  # and those that hold several side by side, e.g. query, key and value
    kind: str = "plain"  # of layer (models/layer_kinds.py)
    mixer: str = "attention"  # file in parts/mixers
    feed_forward: str = "dense"  # file in parts/feed_forwards
    rotary: str = ""  # how queries and keys are rotated by their positions: "halves" or "neighbours" (models/rotary.py)
    lists: tuple[tuple[str, str], ...] = ()  # parts of layers, and the lists that hold them (models/layer_lists.py)
    parameters: tuple[tuple[str, str], ...] = ()  # matrices, and the parameters that hold them (parameter_matrices.py)
    renamed: tuple[tuple[str, str], ...] = ()  # parts of tensor names, and what checkpoints call them
    reads_types: bool = False  # attention reads token types, not embeddings
    distances: tuple[
        str, ...
    ] = ()  # a table of distances and its norm, relative to the body (models/relative_positions.py)


@dataclass(frozen=True)
class LayerPaths:
    """Where the parts of a layer lie, by role and relative to the layer. "" where it has no such part."""

    attention_module: str  # holds the size of a head
    query: str
    key: str
    value: str
    out: str
    attention_norm: str
    ffn_gate: str = ""  # of gated blocks: what passes the activation and is multiplied with what `ffn_in` gives
    ffn_in: str = ""
    activation: str = ""
    ffn_out: str = ""
    ffn_norm: str = ""
    attention_dropout: str = ""  # rate of dropout: of attention weights,
    out_dropout: str = ""  # behind the output matrix of attention,
    inner_dropout: str = ""  # behind the activation of the feed-forward block,
    ffn_dropout: str = ""  # behind that block
    head_size_key: str = "attention_head_size"  # name in `attention_module`,
    window_key: str = ""  # and that of the distance from which on tokens are not attended to
    pre_norm: bool = False  # norms before the blocks, not behind them
    stack: StackRules = StackRules()
    scaled: bool = True  # scores are divided by the root of the head size


@dataclass(frozen=True)
class InputPaths:
    """Where embeddings lie, relative to the body."""

    token_table: str = "embeddings.word_embeddings"
    other_tables: tuple[str, ...] = ("embeddings.position_embeddings", "embeddings.token_type_embeddings")
    norms: tuple[str, ...] = ("embeddings.LayerNorm",)
    projection: str = ""  # from the size of the embeddings to that of the layers, where they differ
    uses_token_types: bool = True  # the second text of a pair has another token type
    skipped_positions: int = 0  # rows of the position table before the first token's
    limited: bool = True  # the config states the maximum length
    dropout: str = ""  # behind the sum of the tables, for parts that apply it themselves
    part: str = "token_embeddings"  # file in parts/inputs
    reads: Literal["texts", "images"] = "texts"
    splits_number_commas: bool = False  # a SentencePiece tokenizer never joins a number with the comma behind it


@dataclass(frozen=True)
class VocabularyPaths:
    """The head with logits of all tokens of the vocabulary: [matrix, activation, norm,] and the table; relative to the network."""

    table: str  # a matrix, mostly with a bias, whose weights are the token table's
    dense: str = ""
    norm: str = ""
    activation: str = "gelu"  # a module, or the name of a function
    auto_class: str = "AutoModelForMaskedLM"  # what builds it from a config
    may_be_causal: bool = False  # `is_decoder` in the config lets tokens attend to earlier ones alone
    may_be_masked: bool = (
        True  # a token is predicted from those behind it too; False of networks that are always causal
    )
    shares_table: bool = True  # else its vectors are not those of the tokens that are read, and may have another size
    wider: str = ""  # a module whose `scores` read hidden states wider than the table's vectors
    directions: int = (
        1  # 2: logits of a stack that reads texts backwards lie behind those of the one that reads them forwards
    )


@dataclass(frozen=True)
class DetectorPaths:
    """The head that tells replaced tokens from original ones: matrix, activation, a row of weights; relative to the network."""

    dense: str
    final: str
    activation: str = "gelu"  # a module, or the name of a function


@dataclass(frozen=True)
class HeadPaths:
    """The head for whole sequences: [dropout,] inner matrix, activation, [dropout,] final matrix; relative to the network."""

    inner: tuple[str, ...] = ()  # from hidden states to hidden states
    activation: str = "tanh"  # a module, or the name of a function
    final: str = "classifier"
    norm: str = ""  # behind the activation
    dropout: str = "dropout"
    first_dropout: str = ""  # before the inner matrix
    sequence: str = "cls"  # what is read of a sequence: a mode of models/pooling.py,
    sequence_key: str = ""  # and the key of the config that states it
    span: str = "qa_outputs"  # the matrix of the head for spans
    span_body: str = ""  # what transformers calls the body under that head, where it has another name there
    tagging: str = "classifier"  # and that of the head for labels of tokens
    per_token: bool = True  # there are heads with logits for every token
    states_of_tokens: bool = True  # the last hidden states are those of the tokens, so that they can be pooled
    per_token_inner: bool = False  # these begin with the inner matrix too
    pooling: str = "mean"  # of sentence embeddings, where the checkpoint does not state it
    embeds: bool = False  # of networks of niwaki's own: there is one without a head, which gives sentence embeddings
    vocabulary: VocabularyPaths | None = None  # None: there is no masked-language-model head
    detector: DetectorPaths | None = None  # None: there is no head that detects replaced tokens


@dataclass(frozen=True)
class ConfigKeys:
    """What a config calls the sizes of a network; "" for one that it does not have."""

    depth: str = "num_hidden_layers"
    hidden_size: str = "hidden_size"
    heads: str = "num_attention_heads"
    ffn_size: str = "intermediate_size"
    embedding_size: str = ""  # where token vectors may have another one than hidden states
    head_size: str = ""  # where it need not be the hidden size divided by the heads
    also_hidden_size: tuple[str, ...] = ()  # further keys that state the hidden size
    key_heads: str = ""  # where several heads may share the keys and values of one
    positions: str = "max_position_embeddings"
    also_vocabulary_size: tuple[str, ...] = ()  # further keys that state the number of tokens
    fresh: Config = field(default_factory=dict)  # values of a network from scratch that are not transformers' defaults


@dataclass(frozen=True)
class DecoderPaths:
    """The decoder of a sequence-to-sequence network. Each layer has attention to the generated tokens, then to the input
    with the feed-forward block behind it."""

    layer_list: str  # from the network
    own: LayerPaths
    cross: LayerPaths
    depth_key: str = "decoder_layers"
    heads_key: str = "decoder_attention_heads"
    ffn_size_key: str = "decoder_ffn_dim"
    part: str = "shared_table"  # file in parts/decoders
    has_own_tokenizer: bool = True  # pretrained to generate, with special tokens of its own
    part_without_layers: str = ""  # the same where the config says 0 layers
    final_norm: str = ""  # behind the last layer, from the network
    begins_with_bos: bool = True  # texts begin with a token of their own, and the decoder with that behind them; else it begins with padding


class RelativeBias:
    """What a family adds to attention scores by the distance from query to key."""

    table: ClassVar[str]  # (rows, heads), relative to the body

    def at(self, trunk: Network, distances: "Tensor") -> "Tensor":
        """For distances from query to key, of any shape (…): (…, heads)."""
        raise NotImplementedError

    def bias(self, trunk: Network, hidden: "Tensor") -> "Tensor":
        """For hidden states (batch, tokens, hidden): (1, heads, tokens, tokens)."""
        import torch

        places = torch.arange(hidden.shape[1], device=hidden.device)
        return self.at(trunk, places[None, :] - places[:, None]).permute(2, 0, 1)[None]

    def rows(self, trunk: Network, longest: int) -> list[int]:
        """Which row of the table belongs to each distance, from -longest + 1 to longest - 1; where further ones share the row of the last, some
        may be left out at both ends."""
        raise NotImplementedError

    def move(self, first: "nn.Module", now: "nn.Module") -> None:
        """Called when another layer takes the place of the first."""


class Family:
    """Base of the files in `families/`. Most families only set attributes."""

    body: ClassVar[str]  # the encoder, from the network
    layer_list: ClassVar[str] = "encoder.layer"  # relative to the body
    layer: ClassVar[LayerPaths | None] = None
    inputs: ClassVar[InputPaths] = InputPaths()
    head: ClassVar[HeadPaths] = HeadPaths()
    keys: ClassVar[ConfigKeys] = ConfigKeys()
    decoder: ClassVar[DecoderPaths | None] = None
    relative: ClassVar[RelativeBias | None] = None
    special_token_keys: ClassVar[tuple[str, ...]] = (
        "pad_token_id",
    )  # ids in the config that the network compares with
    tokenizers: ClassVar[tuple[str, ...]] = ()  # transformers' classes without `TokenizerFast`
    in_transformers: ClassVar[bool] = True  # else the network is niwaki's own
    config_rules: ClassVar[dict[str, Callable[[Any], bool]]] = {}  # further keys of its configs, and what they may be

    @classmethod
    def register_networks(cls) -> None:
        """Registers the family's networks with transformers, where they are not its own."""

    @classmethod
    def check_config(cls, config: Config) -> None:
        """Rejects configs of the family whose networks are not supported."""

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        """Rearranges a network that transformers built as the paths describe it. Tensors keep their names, or `adapting.published` restores them."""
        from niwaki.models.adapting import adapt_layers

        adapt_layers(network, cls)
        if cls.head.vocabulary is not None:
            from niwaki.models.vocabulary_matrix import tie_vocabulary

            tie_vocabulary(network, cls)

    @classmethod
    def layers(cls, trunk: Network) -> "list[nn.Module]":
        """The distinct layers."""
        return list(trunk.get_submodule(cls.layer_list).children()) if cls.layer else []

    @classmethod
    def order(cls, config: "PretrainedConfig", layers: int) -> list[int]:
        """Which of the distinct layers runs at each depth."""
        return list(range(layers))

    @classmethod
    def blocks(cls, network: Network) -> "list[Block]":
        """Blocks of neurons outside of layers."""
        return []

    @classmethod
    def matrices(cls, network: Network) -> Iterator[str]:
        """Paths of matrices outside of layers, without those of the head."""
        yield from ()

    @classmethod
    def encoder(cls, config: "PretrainedConfig") -> "type[Family]":
        """The family of the layers that read: another one where a decoder was put behind it, or where a key chooses the kind of blocks."""
        return cls


def is_always_causal(family: type[Family]) -> bool:
    """Whether tokens attend to earlier ones alone, whatever the config says."""
    return family.layer is not None and family.layer.stack.causal


def final_norm(family: type[Family]) -> str:
    """The path, from the network, of the norm behind the last layer; "" where there is none."""
    found = family.layer.stack.final_norm if family.layer else ""
    return f"{family.body}.{found}" if found else ""


@cache
def family_of(model_type: str) -> type[Family]:
    """The family, or an error that names the families there are."""
    if not is_known(model_type):
        known = ", ".join(FAMILIES.names())
        raise InputError(
            f"model family '{model_type}' has no anatomy; there is: {known} (docs/adding.md says how to add one)"
        )
    return FAMILIES.load(_file_name(model_type), Family)


def is_known(model_type: object) -> bool:
    return isinstance(model_type, str) and _file_name(model_type) in FAMILIES


def model_type_of(name: str) -> str:
    """What transformers' configs call the family of a file name: `deberta-v2` for `deberta_v2`."""
    from transformers import CONFIG_MAPPING

    return name if name in CONFIG_MAPPING or not family_of(name).in_transformers else name.replace("_", "-")


def _file_name(model_type: str) -> str:
    return model_type.replace("-", "_")  # transformers writes some with a hyphen, which no module can have
