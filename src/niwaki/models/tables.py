"""Embedding tables of seq2seq networks: one shared by input, output and logits, and those of positions.

transformers gives an encoder–decoder of its own several modules around one tensor. Here the table lies in one place and all others
borrow it, so that cutting or packing it once is enough; tensors keep the names that they have in transformers.
"""

from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.family import Network
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.packed.int8 import Int8Embedding


def scores(table: Any, hidden: Tensor) -> Tensor:
    """(…, hidden) to (…, vocabulary): the product with every token vector."""
    if isinstance(table, nn.Embedding):
        return hidden @ table.weight.T
    if isinstance(table, FactoredTable):  # rows are never made wide
        narrow = torch.eye(table.table.embedding_dim, dtype=hidden.dtype, device=hidden.device)
        return scores(table.table, hidden @ table.up(narrow).T)
    if hasattr(table, "scores"):
        return table.scores(hidden)
    return hidden @ table(torch.arange(table.num_embeddings, device=hidden.device)).T.to(hidden.dtype)


class TiedEmbedding(nn.Module):
    """The vectors of a table that lies elsewhere in the network, times a number."""

    def __init__(self, owner: nn.Module, name: str, scale: float = 1.0) -> None:
        super().__init__()
        self.owner, self.name, self.scale = (owner,), name, scale  # in a tuple it is not a part of this

    @property
    def table(self) -> Any:
        return getattr(self.owner[0], self.name)

    def forward(self, ids: Tensor) -> Tensor:
        vectors = self.table(ids)
        return vectors if self.scale == 1.0 else vectors * self.scale


class TiedHead(TiedEmbedding):
    """Hidden states to a score for each piece of a table that lies elsewhere."""

    def forward(self, hidden: Tensor) -> Tensor:
        return scores(self.table, hidden)


class Positions(nn.Module):
    """A vector for each position, called as transformers' networks call theirs. The first `offset` rows are no positions."""

    def __init__(self, weight: nn.Parameter, offset: int) -> None:
        super().__init__()
        self.offset = offset
        self.weight: Any = weight

    @property
    def num_embeddings(self) -> int:
        return self.weight.shape[0]

    def forward(self, given: Any, past: int = 0, position_ids: Tensor | None = None) -> Tensor:
        tokens = given.shape[1] if isinstance(given, Tensor) else given[1]
        places = torch.arange(past, past + tokens, device=self.weight.device) if position_ids is None else position_ids
        return self.at(places)

    def at(self, places: Tensor) -> Tensor:
        """(tokens,) to (tokens, width)."""
        return self.weight[places + self.offset]

    def to_dense(self) -> nn.Embedding:
        return nn.Embedding.from_pretrained(self.weight.detach(), freeze=not self.weight.requires_grad)

    def repack(self, table: nn.Embedding) -> "Positions":
        return Positions(nn.Parameter(table.weight.detach(), requires_grad=table.weight.requires_grad), self.offset)

    def packed(self) -> "PackedPositions":
        return PackedPositions(Int8Embedding.of(self.to_dense()), self.offset)


class PackedPositions(Positions):
    """The same as 8-bit integers, each row with its scale."""

    scale: Tensor

    def __init__(self, packed: Int8Embedding, offset: int) -> None:
        nn.Module.__init__(self)
        self.offset = offset
        self.register_buffer("weight", packed.weight)
        self.register_buffer("scale", packed.scale)

    def at(self, places: Tensor) -> Tensor:
        rows = places + self.offset
        return self.weight[rows].float() * self.scale[rows][..., None]

    def to_dense(self) -> nn.Embedding:
        return nn.Embedding.from_pretrained(self.weight.float() * self.scale[:, None], freeze=False)

    def repack(self, table: nn.Embedding) -> "PackedPositions":
        return PackedPositions(Int8Embedding.of(table), self.offset)

    def packed(self) -> "PackedPositions":
        return self


def tie_table(network: nn.Module, owner: nn.Module, name: str, borrowers: dict[str, float]) -> bool:
    """Puts one plain table into its owner, and what borrows it into all these places (with what each multiplies by); False where one
    of these has numbers of its own."""
    old = getattr(owner, name)
    shared = (network.get_submodule(path).weight is old.weight for path in borrowers)
    if not old.weight.is_meta and not all(shared):  # a skeleton without numbers may be torn
        return False
    table = nn.Embedding(old.num_embeddings, old.embedding_dim, padding_idx=old.padding_idx, device="meta")
    table.weight = old.weight
    setattr(owner, name, table)
    for path, scale in borrowers.items():
        kind = TiedHead if isinstance(network.get_submodule(path), nn.Linear) else TiedEmbedding
        network.set_submodule(path, kind(owner, name, scale))
    return True


def has_own_output(network: Network, path: str, table: nn.Embedding) -> bool:
    """Whether the output matrix at a path is not the table of tokens, as the numbers or the config say. transformers ties both at first where
    a config does not, so the matrix may have to be made."""
    output = network.get_submodule(path)
    if output.weight is not table.weight:
        return not table.weight.is_meta or network.config.tie_word_embeddings is False
    if network.config.tie_word_embeddings is not False:
        return False
    output.weight = nn.Parameter(output.weight.detach().clone())
    return True
