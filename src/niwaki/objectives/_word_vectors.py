"""Base of objectives that learn word vectors: a table, which is the model, and a second one for the words around, which is not saved.

Negative samples are shared by all places of a batch, as in Ji et al. 2016 (arXiv 1604.04661), so that the loss is made of matrix products.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.data.ragged import Ragged
from niwaki.data.scratch import slices
from niwaki.models.features import Features
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.models.networks.averaging import frequency_weights
from niwaki.models.record import HIDDEN
from niwaki.objectives._sentences import SentenceObjective

NOISE_POWER = 0.75  # frequent words are drawn as noise at this power of their frequency


class WordVectorSettings(Settings):
    window: int = setting(5, "how far away words around a word are, at most", ge=1, le=1000)
    weights: bool = setting(
        True, "whether rare words weigh more in the embedding of a text: a / (a + frequency), a = 0.001"
    )


class WordVectors(SentenceObjective):
    activations: ClassVar[frozenset[str]] = frozenset({HIDDEN})

    def prepare(self, model: Model, seed: int = 0) -> None:
        if model.anatomy.layers or not model.anatomy.inputs.small_tables:
            raise InputError(
                "objective: word vectors are a network without layers; set family = 'averaging' in from_scratch"
            )
        self.model, size = model, model.anatomy.tokens.num_embeddings
        self.helpers = self.tables(size, model.anatomy.tokens.embedding_dim)
        self.special = torch.zeros(size, dtype=torch.bool)
        self.special[[number for number in model.tokenizer.all_special_ids if number < size]] = True

    def tables(self, vocabulary_size: int, width: int) -> nn.ModuleDict:
        """What is trained next to the vectors: those of words around, 0 at first."""
        return nn.ModuleDict({"around": zero_table(vocabulary_size, width)})

    def count(self, features: Features) -> None:
        """Frequencies weigh words in the embeddings of texts."""
        assert isinstance(self.chosen, WordVectorSettings)
        self.counts = token_counts(features.rows.ids, len(self.special))
        weights = frequency_weights(self.counts) if self.chosen.weights else torch.zeros(len(self.counts))
        (table,) = self.model.anatomy.inputs.small_tables
        self.model.network.get_submodule(table).weight.data.copy_(weights[:, None])


class SamplingSettings(WordVectorSettings):
    negatives: int = setting(5, "negative samples for each word around", ge=1, le=1000)
    drawn: int = setting(256, "different negative samples in a batch, which all its words share", ge=1, le=65_536)
    subsample: float = setting(
        1e-3, "relative frequency from which on occurrences of words are left out at random; 0 leaves none out", ge=0
    )


class NegativeSampling(WordVectors):
    """`batch` leaves out words and draws windows and noise; `loss` compares words around with noise."""

    settings: ClassVar[type[Settings]] = SamplingSettings

    @property
    def _settings(self) -> SamplingSettings:
        assert isinstance(self.chosen, SamplingSettings)
        return self.chosen

    def count(self, features: Features) -> None:
        super().count(features)
        plain = self.counts.masked_fill(self.special, 0).double()
        self.noise = plain**NOISE_POWER
        self.rates = sampling_rates(plain / plain.sum().clamp(min=1), self._settings.subsample)

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        settings, ids, device = self._settings, batch.inputs["input_ids"].cpu(), batch.mask.device
        chance = torch.rand(ids.shape, generator=generator)
        stays = batch.mask.cpu().bool() & ~self.special[ids] & (chance < self.rates[ids])
        ids, mask = moved_left(ids, stays)
        notes = {
            "radius": torch.randint(1, settings.window + 1, ids.shape, generator=generator),
            "noise": torch.multinomial(self.noise, settings.drawn, replacement=True, generator=generator),
        }
        inputs = {"input_ids": ids.to(device), "attention_mask": mask.long().to(device)}
        return replace(batch, inputs=inputs, notes={name: value.to(device) for name, value in notes.items()})

    def around(self, ids: Tensor) -> Tensor:
        """Vectors of words around."""
        assert isinstance(self.helpers, nn.ModuleDict)
        found: Tensor = self.helpers["around"](ids)
        return found


def zero_table(vocabulary_size: int, width: int) -> nn.Embedding:
    table = nn.Embedding(vocabulary_size, width)
    nn.init.zeros_(table.weight)
    return table


def token_counts(ids: Ragged, vocabulary_size: int) -> Tensor:
    """Occurrences of every token (vocabulary,)."""
    found: np.ndarray = np.zeros(vocabulary_size, dtype=np.int64)
    for piece in slices(len(ids.values)):
        found += np.bincount(ids.values[piece], minlength=vocabulary_size)
    return torch.from_numpy(found)


def sampling_rates(frequencies: Tensor, threshold: float) -> Tensor:
    """The share of the occurrences of each word that stays, as word2vec computes it: √(t/f) + t/f, at most 1."""
    ratio = threshold / frequencies.clamp(min=1e-12)
    return (ratio.sqrt() + ratio).clamp(max=1).float() if threshold else torch.ones(len(frequencies))


def moved_left(ids: Tensor, stays: Tensor) -> tuple[Tensor, Tensor]:
    """Tokens (batch, tokens) without those that do not stay, and the mask of what is left."""
    lengths = stays.sum(dim=1)
    order = (~stays).to(torch.uint8).argsort(dim=1, stable=True)[:, : max(1, int(lengths.max()))]
    mask = torch.arange(order.shape[1]) < lengths[:, None]
    return ids.gather(1, order).masked_fill(~mask, 0), mask


def near(mask: Tensor, radius: Tensor) -> Tensor:
    """(batch, tokens, tokens): which real tokens lie within the radius (batch, tokens) around each."""
    places = torch.arange(mask.shape[1], device=mask.device)
    apart = (places[:, None] - places).abs()
    both = mask.bool()[:, :, None] & mask.bool()[:, None]
    return both & (apart > 0) & (apart <= radius[:, :, None])
