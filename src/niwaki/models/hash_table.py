"""Character vectors of CANINE (Clark et al. 2021): several hash functions each choose a row of a small table, and the rows stand side by side.
There is no vocabulary, so every character has a vector."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from niwaki.models.family import Network

CHARACTERS = 1_114_112  # code points of Unicode
PRIMES = (31, 43, 59, 61, 73, 97, 103, 113, 137, 149, 157, 173, 181, 193, 211, 223)
TABLE, PUBLISHED = "hash_table", "HashBucketCodepointEmbedder_"


class HashTable(nn.Module):
    """The i-th child is the table of the i-th hash function."""

    num_embeddings = CHARACTERS

    def __init__(self, tables: list[nn.Module]) -> None:
        super().__init__()
        for number, table in enumerate(tables):
            self.add_module(str(number), table)

    @property
    def inner(self) -> tuple[str, ...]:
        return tuple(self._modules)

    @property
    def embedding_dim(self) -> int:
        return sum(int(getattr(table, "embedding_dim")) for table in self.children())  # noqa: B009 - typed loosely

    def forward(self, ids: Tensor) -> Tensor:
        found = []
        for prime, table in zip(PRIMES, self.children(), strict=False):
            rows: Network = table
            found.append(rows(((ids + 1) * prime) % rows.num_embeddings))
        return torch.cat(found, dim=-1)


def set_hash_table(network: Network, path: str) -> None:
    """Puts the tables of the embeddings at a path into one. transformers' own forward pass reads them as it did."""
    embeddings = network.get_submodule(path)
    names = sorted((name for name in embeddings._modules if name.startswith(PUBLISHED)), key=_number)
    if TABLE in embeddings._modules:
        return
    embeddings.add_module(TABLE, HashTable([embeddings._modules.pop(name) for name in names]))
    views = {name: _view(number) for number, name in enumerate(names)}
    embeddings.__class__ = type(type(embeddings).__name__, (type(embeddings),), views)


def _number(name: str) -> int:
    return int(name.removeprefix(PUBLISHED))


def _view(number: int) -> property:
    return property(lambda embeddings: embeddings.hash_table.get_submodule(str(number)))


def hash_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors under the names of checkpoints."""
    return {name.replace(f".{TABLE}.", f".{PUBLISHED}"): value for name, value in tensors.items()}
