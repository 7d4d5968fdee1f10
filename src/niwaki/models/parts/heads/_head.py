"""A head makes logits of hidden states."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.core.catalog import Catalog
from niwaki.models.family import Family, Network
from niwaki.models.parts._part import Part
from niwaki.models.pooling import pool

HEADS = Catalog("niwaki.models.parts.heads", what="head")
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "gelu": functional.gelu}


class TaskHead(Part):
    """Base of the files in `parts/heads/`. All paths are from the network.

    One that is an `nn.Module` is built as `TaskHead(hidden_size, labels, settings)`.
    """

    architecture: ClassVar[str] = ""  # how the names of transformers' classes with such a head end
    other_endings: ClassVar[tuple[str, ...]] = ()  # of the names of further classes with it
    auto_class: ClassVar[str] = ""  # what builds one from a config
    per_token: ClassVar[bool] = False  # logits for every token; else it reads the first token's hidden state alone
    generates: ClassVar[bool] = False  # the logits are of the next token
    pretrains: ClassVar[bool] = False  # it predicts tokens of the text itself
    outputs: ClassVar[tuple[str, ...]] = ("logits",)  # of an exported graph; a second one holds the last hidden states

    def __init__(self, network: Network, family: type[Family]) -> None:
        self.network, self.paths = network, family.head

    @property
    def pooling(self) -> str:
        """What the head reads of a sequence: a mode of `models/pooling.py`."""
        return "cls"

    @property
    def pools(self) -> bool:
        """Whether `pool` reads the hidden states of all tokens, and `forward` what it returns."""
        return self.pooling != "cls"

    @property
    def mixes(self) -> bool:
        """Whether `mix` makes what the head reads of the hidden states of all layers."""
        return False

    @property
    def splits_pairs(self) -> bool:
        """Whether both texts of a pair are encoded separately (`models/pairs.py`): `forward` gets the first texts, then the second ones."""
        return False

    @property
    def unit_length(self) -> bool:
        """Whether `forward` scales that to length 1."""
        return False

    @property
    def inner(self) -> tuple[str, ...]:
        """Matrices from hidden states to hidden states."""
        return ()

    def final_inputs(self, keep: Sequence[int], hidden_size: int) -> list[int]:
        """Inputs of the final matrix that are left when these dimensions of `hidden_size` hidden states are."""
        return list(keep)

    @property
    def final(self) -> str:
        """The last matrix; "" where a table of tokens takes its place."""
        return ""

    @property
    def activation(self) -> str:
        """Between the matrices."""
        return "none"

    def mix(self, hidden: Sequence[Tensor]) -> Tensor:
        """Padded hidden states (batch, tokens, …) of the embeddings and of each layer to one, for heads that mix."""
        raise NotImplementedError

    def pool(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Padded hidden states (batch, tokens, hidden) and their mask to (batch, hidden), for heads that pool."""
        return pool(hidden, mask, self.pooling)

    def forward(self, hidden: Tensor) -> Tensor:
        """(…, hidden) to (…, labels) for heads per token, else (batch, ≥1, hidden) to (batch, labels)."""
        raise NotImplementedError


def is_head_of(head: type[TaskHead], class_name: str) -> bool:
    """Whether a class of transformers with this name has such a head."""
    return class_name.endswith((f"For{head.architecture}", *head.other_endings))


def activation_of(network: Network, name: str) -> Callable[[Tensor], Tensor]:
    """A function by its name, or a module of the network by its path."""
    found: Callable[[Tensor], Tensor] = ACTIVATIONS.get(name) or network.get_submodule(name)
    return found


def inner_norms(head: TaskHead) -> tuple[str, ...]:
    """Norms behind the inner matrices, in families whose heads have one."""
    paths = getattr(head, "paths", None)  # a head that was put in has none
    if paths is None or not head.inner:
        return ()
    norm = paths.vocabulary.norm if head.architecture == "MaskedLM" else paths.norm
    return (norm,) if norm else ()


def transform(head: TaskHead, rows: Tensor) -> Tensor:
    """Hidden states through the inner matrices."""
    for path in head.inner:
        rows = activation_of(head.network, head.activation)(head.network.get_submodule(path)(rows))
    for path in inner_norms(head):
        rows = head.network.get_submodule(path)(rows)
    return rows


@runtime_checkable
class HasFeatures(Protocol):
    """A head on one vector of a text, whose last matrix can be fitted as a linear model."""

    def features(self, hidden: Tensor) -> Tensor:
        """What that matrix reads, without dropout, if the head has no other one: (batch, 1, hidden) to (batch, features)."""


class PerToken(TaskHead):
    """One matrix on every token's hidden state, behind an inner one in some families."""

    per_token = True
    native = "dense"

    @property
    def inner(self) -> tuple[str, ...]:
        return self.paths.inner if self.paths.per_token_inner else ()

    @property
    def activation(self) -> str:
        return self.paths.activation if self.inner else "none"

    def forward(self, hidden: Tensor) -> Tensor:
        dropout = getattr(self.network, self.paths.dropout if self.inner else "dropout", None)  # some families have one
        rows = transform(self, hidden)
        return self.network.get_submodule(self.final)(rows if dropout is None else dropout(rows))
