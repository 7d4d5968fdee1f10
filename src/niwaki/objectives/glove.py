"""GloVe: products of word vectors approximate the logarithms of how often words occur near each other.

Co-occurrences are counted once, a pair at distance d as 1/d; then random pairs are drawn, and an epoch has as many as there are different ones.
`batch` is the number of pairs in a step, e.g. 32,768.

Paper: Pennington et al. 2014, GloVe: Global Vectors for Word Representation (EMNLP 2014), which adds both tables up; here one is saved.
Cost: counting, about a second per million words; then 16 bytes of memory for each pair.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from niwaki.core.settings import Settings, setting
from niwaki.data.ragged import Ragged
from niwaki.models.features import Features
from niwaki.models.forward import Batch, Outputs
from niwaki.objectives._word_vectors import WordVectors, WordVectorSettings, zero_table

if TYPE_CHECKING:
    from scipy import sparse

COUNTED_TOKENS = 1 << 19  # tokens whose pairs are counted at once


class GloveSettings(WordVectorSettings):
    window: int = setting(10, "how far away words around a word are, at most", ge=1, le=1000)
    most: float = setting(100.0, "co-occurrences from which on a pair has the full weight", gt=0)
    power: float = setting(0.75, "rarer pairs weigh (co-occurrences / most) to this power", ge=0, le=1)


@dataclass(frozen=True)
class Pairs:
    """Different pairs of words, each once, and how often they occur near each other."""

    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray


class Glove(WordVectors):
    settings: ClassVar[type[Settings]] = GloveSettings
    pairs: Pairs
    size: int

    @property
    def _settings(self) -> GloveSettings:
        assert isinstance(self.chosen, GloveSettings)
        return self.chosen

    def tables(self, vocabulary_size: int, width: int) -> nn.ModuleDict:
        biases = {name: zero_table(vocabulary_size, 1) for name in ("word_bias", "around_bias")}
        around = nn.Embedding(vocabulary_size, width)
        nn.init.uniform_(around.weight, -0.5 / width, 0.5 / width)
        return nn.ModuleDict({"around": around, **biases})

    def count(self, features: Features) -> None:
        super().count(features)
        self.pairs = cooccurrences(features.rows.ids, self._settings.window, self.special.numpy())

    def batches(self, features: Features, size: int, seed: int, epoch: int) -> list[np.ndarray]:
        """Steps without rows of their own: `batch` draws pairs."""
        self.size = size
        return [np.zeros(1, dtype=np.int64)] * max(1, -(-len(self.pairs.counts) // size))

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        """The first words of pairs as texts of one token; in half of the pairs the words are exchanged."""
        pairs, device = self.pairs, batch.mask.device
        drawn = torch.randint(len(pairs.counts), (self.size,), generator=generator).numpy()
        exchanged = (torch.rand(self.size, generator=generator) < 0.5).numpy()
        one, other = pairs.first[drawn], pairs.second[drawn]
        words = torch.from_numpy(np.where(exchanged, other, one).astype(np.int64))
        around = torch.from_numpy(np.where(exchanged, one, other).astype(np.int64))
        inputs = {"input_ids": words[:, None].to(device), "attention_mask": torch.ones_like(words)[:, None].to(device)}
        notes = {"around": around.to(device), "counts": torch.from_numpy(pairs.counts[drawn]).to(device)}
        return replace(batch, inputs=inputs, notes=notes)

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        assert isinstance(self.helpers, nn.ModuleDict)
        words, around, tables = batch.inputs["input_ids"][:, 0], batch.notes["around"], self.helpers
        products = (outputs.hidden[0][:, 0].float() * tables["around"](around).float()).sum(dim=-1)
        biases = (tables["word_bias"](words) + tables["around_bias"](around))[:, 0]
        return glove_loss(products + biases, batch.notes["counts"], self._settings.most, self._settings.power)


def glove_loss(scores: Tensor, counts: Tensor, most: float, power: float) -> Tensor:
    """Products with biases (pairs,) and co-occurrences (pairs,) to the weighted mean of squared errors."""
    weights = (counts / most).clamp(max=1) ** power
    return (weights * (scores - counts.log()).square()).mean()


def cooccurrences(ids: Ragged, window: int, special: np.ndarray) -> Pairs:
    """Pairs of words of the same sequence at most `window` words apart. Special tokens are left out. `special` is (vocabulary,)."""
    from scipy import sparse

    shape = (len(special), len(special))
    total = sparse.csr_matrix(shape, dtype=np.float32)
    first = 0
    while first < len(ids):
        last = max(first + 1, int(np.searchsorted(ids.starts, ids.starts[first] + COUNTED_TOKENS, "right")) - 1)
        some = ids.stretch(range(first, last))
        words = np.asarray(some.values, dtype=np.int64)
        sequences = np.repeat(np.arange(len(some)), some.lengths)
        plain = ~special[words]
        total = total + _near_pairs(words[plain], sequences[plain], window, shape)
        first = last
    found = total.tocoo()
    return Pairs(found.row.astype(np.int32), found.col.astype(np.int32), found.data)


def _near_pairs(words: np.ndarray, sequences: np.ndarray, window: int, shape: tuple[int, int]) -> "sparse.csr_matrix":
    """The smaller id is the row. A word near itself counts in both directions."""
    from scipy import sparse

    rows, columns, values = [], [], []
    for distance in range(1, window + 1):
        together = sequences[:-distance] == sequences[distance:]
        one, other = words[:-distance][together], words[distance:][together]
        rows.append(np.minimum(one, other))
        columns.append(np.maximum(one, other))
        values.append(np.where(one == other, 2, 1).astype(np.float32) / distance)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_matrix(entries, shape=shape).tocsr()
