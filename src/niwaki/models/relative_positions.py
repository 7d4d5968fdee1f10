"""Relative positions of DeBERTa (He et al. 2021): one table with a vector for each distance, which every layer projects with its own query
and key matrices. Far distances share buckets that grow logarithmically."""

import math
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from niwaki.models.family import Family, Network

POSITIONS = "positions"  # attribute of an attention


@dataclass(frozen=True)
class RelativePositions:
    """Where an attention finds the vectors of distances."""

    trunk: Network
    paths: tuple[str, ...]  # of the table and its norm
    buckets: int  # on each side; 0: each distance has its own vector
    longest: int  # distance that the last bucket is made for
    max_tokens: int

    @property
    def span(self) -> int:
        """Rows of the table on each side."""
        return self.buckets or self.longest

    def places(self, tokens: int) -> tuple[Tensor, Tensor]:
        """For `tokens` tokens: the rows of the table that they need, and for each query and key which of these (tokens, tokens)."""
        device = next(self.trunk.parameters()).device
        tracing = torch.jit.is_tracing()  # exported graphs are for any length: they have all rows
        known = self.max_tokens if tracing else max(2, int(tokens))
        row_of = torch.tensor(
            rows_by_distance(known, self.buckets, self.longest), device=device
        )  # of -known + 1, …, known - 1
        first = 0 if tracing else int(row_of.min())
        count = 2 * self.span if tracing else int(row_of.max()) + 1 - first
        steps = torch.arange(tokens, device=device)
        return torch.arange(first, first + count, device=device), row_of[
            steps[:, None] - steps[None] + known - 1
        ] - first

    def vectors(self, rows: Tensor) -> Tensor:
        """Of these rows of the table (rows, hidden)."""
        table, norm = (self.trunk.get_submodule(path) for path in self.paths)
        found: Tensor = norm(table(rows))
        return found


def set_distances(network: Network, family: type[Family]) -> None:
    """Notes at each attention where the vectors of distances are."""
    assert family.layer is not None
    trunk, config = network.get_submodule(family.body), network.config
    tokens, buckets = int(config.max_position_embeddings), max(0, int(getattr(config, "position_buckets", -1)))
    longest = int(config.max_relative_positions) if config.max_relative_positions > 0 else tokens
    for module in family.layers(trunk):
        attention = module.get_submodule(family.layer.attention_module)
        found = RelativePositions(trunk, family.layer.stack.distances, buckets, longest, tokens)
        setattr(attention, POSITIONS, found)


@cache
def rows_by_distance(tokens: int, buckets: int, longest: int) -> list[int]:
    """The rows of the table for the distances from -tokens + 1 to tokens - 1."""
    span = buckets or longest
    found = [min(bucket(distance, buckets, longest), span) for distance in range(tokens)]
    signed = [*(-row for row in reversed(found[1:])), *found]
    return [min(row + span, 2 * span - 1) for row in signed]


def bucket(distance: int, buckets: int, longest: int) -> int:
    """Near distances have a bucket each. In fp32, which decides on which side of a border a distance lies, as in transformers."""
    middle = buckets // 2
    if not buckets or distance <= middle:
        return distance
    ratio = torch.log(torch.tensor(distance / middle)) / torch.log(torch.tensor((longest - 1) / middle))
    return math.ceil(float(ratio * (middle - 1))) + middle
