"""Where things are in a model family. Methods ask the anatomy, never the model's name.

A family is one file in `families/`, named as transformers names the `model_type`: mostly paths, a few lines of code.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from torch import Tensor, nn

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError
from niwaki.models.block import Block
from niwaki.models.decoding import DecoderLayer, KeyValue
from niwaki.models.encoder import HIDDEN, Layout, Record, run_layers
from niwaki.models.layer import MATRICES, Layer
from niwaki.models.layout import Packed, padded
from niwaki.models.module_paths import leaf_paths
from niwaki.models.packed.removed import Removed

Network = Any  # a transformers model: an nn.Module whose further attributes are its family's own

FAMILIES = Catalog("niwaki.models.families", what="model family")


class Anatomy:
    """One network seen through its family's paths. Paths of a layer's parts are relative to the layer."""

    body: ClassVar[str]
    layer_list: ClassVar[str] = "encoder.layer"  # relative to the body
    attention_module: ClassVar[str]  # holds the width of a head
    head_size_key: ClassVar[str] = "attention_head_size"  # under this name
    query: ClassVar[str]
    key: ClassVar[str]
    value: ClassVar[str]
    out: ClassVar[str]
    attention_norm: ClassVar[str]
    ffn_in: ClassVar[str]
    activation: ClassVar[str]
    ffn_out: ClassVar[str]
    ffn_norm: ClassVar[str]
    attention_dropout: ClassVar[str] = ""  # where the rates are: of attention weights,
    out_dropout: ClassVar[str] = ""  # behind the attention's output matrix,
    inner_dropout: ClassVar[str] = ""  # behind the activation of the feed-forward block,
    ffn_dropout: ClassVar[str] = ""  # and behind that block

    token_table: ClassVar[str] = "embeddings.word_embeddings"  # relative to the body, as the next three
    other_tables: ClassVar[tuple[str, ...]] = ("embeddings.position_embeddings", "embeddings.token_type_embeddings")
    embedding_norm: ClassVar[str] = "embeddings.LayerNorm"
    projection: ClassVar[str | None] = None  # from the embeddings' width to that of the layers, where they differ
    pooled_square: ClassVar[tuple[str, ...]]  # of a head for whole texts: matrices hidden to hidden, from the network
    pooled_activation: ClassVar[str] = "tanh"  # between them
    pooled_final: ClassVar[str] = "classifier"  # and its last matrix

    relative_table: ClassVar[str | None] = None  # (rows, heads), of what is added to scores by distance

    depth_key: ClassVar[str] = "num_hidden_layers"  # names in the config
    heads_key: ClassVar[str] = "num_attention_heads"
    ffn_size_key: ClassVar[str] = "intermediate_size"
    hidden_size_key: ClassVar[str] = "hidden_size"
    uses_token_types: ClassVar[bool] = True  # whether the second text of a pair is marked by token types
    in_transformers: ClassVar[bool] = True  # whether transformers has the networks, and not niwaki alone
    has_token_heads: ClassVar[bool] = True  # whether there are heads that answer for every token
    is_seq2seq: ClassVar[bool] = False  # whether it answers with a text that it writes, token by token
    has_decoder: ClassVar[bool] = False  # whether layers of its own write, and not those that read
    special_token_keys: ClassVar[tuple[str, ...]] = (
        "pad_token_id",
    )  # of the config: ids that the network looks for in a text
    max_positions_offset: ClassVar[int] = 0  # positions a family loses to padding marks

    has_own_tokenizer: ClassVar[bool] = False  # whether it came to us writing, with marks and pieces of its own
    norms_first: ClassVar[bool] = False  # whether norms lie before the blocks (pre-norm) and not behind them
    scales_attention: ClassVar[bool] = (
        True  # whether products of queries and keys are divided by the root of their width
    )

    def __init__(self, network: Network) -> None:
        self.network = network

    @classmethod
    def register_networks(cls) -> None:
        """Tells transformers of the family's networks, where they are not its own."""

    @classmethod
    def check_config(cls, config: dict[str, Any]) -> None:
        """Refused where the config describes a network of the family that this anatomy does not."""

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        """Brings a network that transformers made into the form that the anatomy describes; its tensors keep their names."""

    @property
    def constants(self) -> list[Any]:
        """What a config decides and no tensor shows: two networks of the same tensors are the same only if these are."""
        return [(layer.heads, layer.head_size) for layer in self.attentions]

    @property
    def trunk(self) -> Any:
        return self.network.get_submodule(self.body)

    @property
    def layers(self) -> list[Layer]:
        """The distinct attention layers. A family that runs one layer several times says so in `order`."""
        return [Layer(module, self) for module in self.trunk.get_submodule(self.layer_list).children()]

    @property
    def order(self) -> list[int]:
        """Which of `layers` runs at each depth."""
        return list(range(len(self.layers)))

    def keep_layers(self, keep: list[int]) -> None:
        """These of `layers` stay, in this order."""
        modules = [layer.module for layer in self.layers]
        self.trunk.set_submodule(self.layer_list, nn.ModuleList([modules[number] for number in keep]))

    @property
    def stacks(self) -> dict[str, list[tuple[Layer, ...]]]:
        """Whole layers that follow one another, by what one of them is called: each as the attentions that it has."""
        return {"layer": [(layer,) for layer in self.layers]}

    @property
    def attentions(self) -> list[Layer]:
        """All that has heads: the layers, and what a decoder has beside them."""
        return [layer for stack in self.stacks.values() for whole in stack for layer in whole]

    @property
    def attention_kinds(self) -> list[list[int]]:
        """The numbers of `attentions` that read the same for the same: an encoder's are all of one kind, a decoder's of two."""
        found, first = [], 0
        for stack in self.stacks.values():
            each, last = len(stack[0]) if stack else 0, first + sum(map(len, stack))
            found += [list(range(first + place, last, each)) for place in range(each)]
            first = last
        return found

    def real_tokens(self, path: str, read: Tensor, written: Tensor) -> Tensor:
        """Of the tokens that the matrix there, by its path from the network, is given: 1 where there is one. `read` and `written`
        (batch, tokens) say it of the texts that are read and written."""
        return read

    def shape(self, depth: int, hidden_size: int, heads: int, ffn_size: int) -> dict[str, int]:
        """The config's keys for a stock network of these sizes."""
        return {
            self.depth_key: depth,
            self.hidden_size_key: hidden_size,
            self.heads_key: heads,
            self.ffn_size_key: ffn_size,
        }

    def require_layers(self, what: str) -> None:
        """Refused, in the name of what asks, where the network has no attention layers."""
        if not self.layers:
            raise InputError(
                f"{what}: a model of family '{self.network.config.model_type}' has no attention layers; leave '{what}' out ('logits' distils "
                "it, 'ffn' and 'vocabulary' cut it, 'int8' packs it), or start from a transformer"
            )

    @property
    def blocks(self) -> list[Block]:
        """Groups of neurons that can be cut: the feed-forward block of each layer."""
        return [Block(layer.module, self.ffn_in, self.ffn_out) for layer in self.layers]

    def update_config_ffn_size(self) -> None:
        """Writes the numbers of neurons into the config where a config can say them: all layers alike."""
        counts = {block.ffn_size for block in self.blocks}
        if len(counts) == 1:
            setattr(self.network.config, self.ffn_size_key, counts.pop())

    def update_config_heads(self) -> None:
        """The same of the numbers of heads, where they are as wide as a config reckons."""
        self.update_config_heads_of(self.layers, self.heads_key)

    def update_config_heads_of(self, layers: list[Layer], key: str) -> None:
        counts = {layer.heads for layer in layers}
        if len(counts) == 1 and layers[0].head_size * max(counts) == self.hidden_size:
            setattr(self.network.config, key, counts.pop())

    @property
    def hidden_size(self) -> int:
        return self.layers[0].linear("query").in_features

    @property
    def tokens(self) -> Any:
        return self.trunk.get_submodule(self.token_table)

    @property
    def max_tokens(self) -> int:
        return int(self.network.config.max_position_embeddings) - self.max_positions_offset

    def tables(self) -> Iterator[str]:
        """Paths, from the network, of all embedding tables."""
        for path in (self.token_table, *self.other_tables):
            yield f"{self.body}.{path}"

    def whole_token_tables(self) -> list[str]:
        """Of these, the large ones: with a vector for each piece of what is read, or written."""
        return [f"{self.body}.{self.token_table}"]

    def token_tables(self) -> list[str]:
        """The same; of one that is made of several, these."""
        return [leaf for path in self.whole_token_tables() for leaf in leaf_paths(self.network, path)]

    @property
    def embeddings(self) -> list[nn.Module]:
        """All that lies before the first layer."""
        return [self.trunk.embeddings]

    def embedding_norms(self) -> list[str]:
        """Paths, from the network, of the norms behind the tables."""
        return [f"{self.body}.{self.embedding_norm}"]

    def small_weights(self) -> list[str]:
        """Paths, from the network, of the small tables and the inner matrices of the head: too few numbers to cut or round
        hard, too many to leave as floats where the rest is packed."""
        return [*(f"{self.body}.{path}" for path in self.other_tables), *self.head_square]

    def tables_by_token(self) -> Iterator[str]:
        """Paths, from the network, of the tables that have a row for each piece of the vocabulary; the vectors' first."""
        yield f"{self.body}.{self.token_table}"

    def matrices(self) -> Iterator[str]:
        """Paths, from the network, of all matrices of the encoder (not of the head); of one that is made of several, of these."""
        for path in self.whole_matrices():
            yield from leaf_paths(self.network, path)

    def whole_matrices(self) -> Iterator[str]:
        """The same with those that are made of several as one."""
        if self.projection and _has(self.trunk, self.projection):
            yield f"{self.body}.{self.projection}"
        root = {id(module): name for name, module in self.network.named_modules()}
        for layer in self.attentions:
            for part in layer.parts:
                if part in MATRICES and not isinstance(layer.part(part), Removed):
                    yield f"{root[id(layer.module)]}.{layer.path(part)}"

    def embed(self, ids: Tensor, types: Tensor | None) -> Tensor:
        """Token ids (batch, tokens) to the first hidden state (batch, tokens, width)."""
        arguments = {"token_type_ids": types} if self.uses_token_types and types is not None else {}
        hidden = self.trunk.embeddings(input_ids=ids, **arguments)
        projected = self.projection and _has(self.trunk, self.projection)
        return self.trunk.get_submodule(self.projection)(hidden) if projected else hidden

    def run(self, inputs: Mapping[str, Tensor], record: Record) -> Tensor:
        """The network on a batch of padded arrays, computing on real tokens only: logits (batch, labels), or
        (batch, tokens, labels). Fills the lists of `record` (`models/encoder.py`)."""
        hidden = self.embed(inputs["input_ids"], inputs.get("token_type_ids"))
        return self.from_embedded(hidden, Packed(inputs["attention_mask"]), record)

    def logits(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
        """The same with padding, as it is exported."""
        hidden = self.embed(ids, types)
        return self.from_embedded(hidden, padded(mask, hidden), {})

    def from_embedded(self, hidden: Tensor, layout: Layout, record: Record) -> Tensor:
        """The embedding's output (batch, tokens, width) to logits."""
        if HIDDEN in record:
            record[HIDDEN].append(hidden)
        layers, every = self.layers, self.per_token or bool(record)
        run = [layers[number] for number in self.order]
        rows = run_layers(run, layout.pack(hidden), layout, self.position_bias(hidden), every, record)
        if self.per_token:
            return layout.unpack(self.answer(rows))
        return self.answer(layout.by_sequence(layout.first(rows) if every else rows))

    def layer_range(self, hidden: Tensor, mask: Tensor, first: int, last: int, every: bool) -> Tensor:
        """Padded hidden states (batch, tokens, width) through the layers from depth `first` to `last`; behind the last one
        of all tokens (`every`), or of the first alone."""
        layers, bias = self.layers, self.position_bias(hidden)
        run = [layers[number] for number in self.order[first:last]]
        return run_layers(run, hidden, padded(mask, hidden), bias, every, {}) if run else hidden

    def position_bias(self, hidden: Tensor) -> Tensor | None:
        """What the family adds to all attention scores, (1 or batch, heads, tokens, tokens), or None."""
        return None

    def relative_rows(self, longest: int) -> list[int]:
        """Which row of `relative_table` belongs to each distance from query to key, from -longest + 1 to longest - 1."""
        raise NotImplementedError

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        """Of a network that writes, the layers of its decoder; with `encode`, `decode_step` and `empty_past` its lean pass."""
        raise NotImplementedError

    def keep_decoder_layers(self, keep: list[int]) -> None:
        """These of the decoder's layers stay, in this order."""
        raise NotImplementedError

    def encode(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> list[KeyValue]:
        """What the decoder reads of texts (batch, tokens): keys and values of each of its layers."""
        raise NotImplementedError

    def decode_step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: list[KeyValue], past: list[KeyValue]
    ) -> tuple[Tensor, list[KeyValue]]:
        """The last token of each hypothesis (texts, hypotheses), all at one place, to the logarithms of how likely each piece comes
        next (texts, hypotheses, pieces), and the past with that token."""
        raise NotImplementedError

    def empty_past(self, hypotheses: int, like: Tensor) -> list[KeyValue]:
        """The past of hypotheses that have not begun."""
        raise NotImplementedError

    @property
    def head(self) -> str:
        """Which of transformers' heads the network has: `SequenceClassification`, `TokenClassification` …"""
        return type(self.network).__name__.rpartition("For")[2]

    @property
    def per_token(self) -> bool:
        """Whether the head answers for every token; else it reads the first one's hidden state alone."""
        return self.head != "SequenceClassification"

    @property
    def head_square(self) -> tuple[str, ...]:
        """Matrices of the head from hidden to hidden; relative to the network."""
        return () if self.per_token else self.pooled_square

    @property
    def head_final(self) -> str:
        """The last matrix of the head."""
        if not self.per_token:
            return self.pooled_final
        return "qa_outputs" if self.head == "QuestionAnswering" else "classifier"

    def answer(self, hidden: Tensor) -> Tensor:
        """Hidden states to logits: (…, labels) from (…, width), or (batch, labels) from the first token's."""
        if not self.per_token:
            return self.classify(hidden)
        dropout = getattr(self.network, "dropout", None)  # some heads have one
        return self.network.get_submodule(self.head_final)(hidden if dropout is None else dropout(hidden))

    def classify(self, hidden: Tensor) -> Tensor:
        """A head for whole texts: hidden states that begin with the first token's (batch, ≥1, width) to (batch, labels)."""
        return self.network.classifier(hidden)


def anatomy_of(network: Network) -> Anatomy:
    """The anatomy of the network's family, or Refused with the families there are."""
    return family_of(str(network.config.model_type))(network)


def family_of(kind: str) -> type[Anatomy]:
    if not is_known(kind):
        known = ", ".join(FAMILIES.names())
        raise InputError(
            f"model family '{kind}' has no anatomy; there is: {known} (docs/extending.md says how to add one)"
        )
    return FAMILIES.load(_file_name(kind), Anatomy)


def is_known(model_type: object) -> bool:
    return isinstance(model_type, str) and _file_name(model_type) in FAMILIES.names()


def _file_name(model_type: str) -> str:
    return model_type.replace("-", "_")  # transformers writes some with a hyphen, which no module can have


def _has(module: nn.Module, path: str) -> bool:
    return path in {name for name, _ in module.named_modules()}
