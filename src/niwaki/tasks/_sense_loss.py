"""Scores of the candidate senses of words, in torch: what `answers/_sense_inventory.py` does in numpy, with gradients."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._sense_inventory import LEXFILES, SenseInventory

FAR = -1e4  # the score of no candidate; finite, so that a teacher's and a student's can be subtracted


@dataclass(frozen=True)
class Tables:
    """What the senses' vectors are made of."""

    codes: Tensor  # (rows, dimensions) int8
    row: Tensor  # (senses,)
    lexfile: Tensor  # (senses,)
    prior: Tensor  # (senses, 3)
    scale: float

    @classmethod
    def of(cls, sense_inventory: SenseInventory, device: torch.device) -> "Tables":
        numbers = (sense_inventory.row.astype(np.int64), sense_inventory.lexfile.astype(np.int64))
        parts = (sense_inventory.vectors.codes, *numbers, sense_inventory.prior)
        codes, row, lexfile, prior = (torch.from_numpy(part).to(device) for part in parts)
        return cls(codes, row, lexfile, prior, float(sense_inventory.vectors.scale[0]))


def candidate_scores(vectors: Tensor, sense_ranges: Tensor, tables: Tables) -> Tensor:
    """(words, most candidates): v · g_s of each word's candidates, which are the senses from `sense_ranges[:, 0]` on up to
    `sense_ranges[:, 1]`; FAR behind the last. Only pairs that are there are worked out."""
    lengths = sense_ranges[:, 1] - sense_ranges[:, 0]  # (words,)
    columns = torch.arange(int(lengths.max()), device=sense_ranges.device)
    real = columns < lengths[:, None]  # (words, most)
    owners, places = real.nonzero(as_tuple=True)  # (pairs,)
    senses = sense_ranges[owners, 0] + places
    dimensions = tables.codes.shape[1]
    own = vectors[owners]  # (pairs, width)
    gloss = (own[:, :dimensions] * tables.codes[tables.row[senses]].float()).sum(dim=1) * tables.scale
    file = vectors[owners, dimensions + tables.lexfile[senses]]
    prior = (own[:, dimensions + LEXFILES :] * tables.prior[senses]).sum(dim=1)
    found = vectors.new_full(real.shape, FAR)
    found[owners, places] = gloss + file + prior
    return found


def any_right(scores: Tensor, right: Tensor) -> Tensor:
    """Mean of -log of the probability that all right candidates have together."""
    return -torch.logsumexp(torch.log_softmax(scores, dim=1).masked_fill(~right, FAR), dim=1).mean()
