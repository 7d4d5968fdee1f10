"""Quick thoughts: which sentences of the batch stand next to this one? A classifier on the products of their embeddings.

The loss is the cross-entropy of a softmax over all other sentences of the batch, with the neighbours as equally likely targets. With
`encoders = "two"` the candidates are read by a second encoder, which is not saved.

Paper: Logeswaran and Lee 2018, An efficient framework for learning sentence representations (arXiv 1803.02893), which takes plain
products of two recurrent encoders and concatenates both.
Cost: one pass through the encoder, or two; larger batches have more candidates.
"""

from dataclasses import replace
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.core.seeds import derive
from niwaki.core.settings import Settings, setting
from niwaki.models.anatomy import anatomy_of
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import Model
from niwaki.models.pooling import normalized
from niwaki.models.saved_files import config_of
from niwaki.models.skeleton import build
from niwaki.objectives._sentences import Neighbours, NeighbourSettings, distances


class QuickThoughtSettings(NeighbourSettings):
    context: int = setting(1, "how far away neighbours are, in sentences, on both sides", ge=1, le=100)
    encoders: Literal["shared", "two"] = setting("shared", "whether another encoder reads the candidates")
    similarity: Literal["cosine", "dot"] = setting("cosine", "how two embeddings are compared")
    temperature: float = setting(0.05, "what similarities are divided by; 1 in the paper, with `dot`", gt=0)


class QuickThought(Neighbours):
    settings: ClassVar[type[Settings]] = QuickThoughtSettings

    @property
    def _settings(self) -> QuickThoughtSettings:
        assert isinstance(self.chosen, QuickThoughtSettings)
        return self.chosen

    def prepare(self, model: Model, seed: int = 0) -> None:
        if self._settings.encoders == "two":
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(derive(seed, "second encoder"))
                self.helpers = build(config_of(model.network)).train(model.network.training)

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        if self.helpers is None:
            return batch
        return replace(batch, notes={"candidates": forward(anatomy_of(self.helpers), batch).logits})

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        settings, own = self._settings, outputs.logits.float()
        candidates = batch.notes["candidates"].float() if "candidates" in batch.notes else own
        if settings.similarity == "cosine":
            own, candidates = normalized(own), normalized(candidates)
        apart = distances(batch)
        near = (apart != 0) & (apart.abs() <= settings.context)
        return neighbour_loss(own @ candidates.T / settings.temperature, near)


def neighbour_loss(scores: Tensor, near: Tensor) -> Tensor:
    """Scores (sentences, candidates) and which are neighbours: the mean cross-entropy over sentences that have any. A sentence is no
    candidate for itself."""
    itself = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    log_probs = functional.log_softmax(scores.masked_fill(itself, float("-inf")), dim=-1)
    counts = near.sum(dim=-1)
    each = -log_probs.masked_fill(~near, 0.0).sum(dim=-1) / counts.clamp(min=1)
    return each.sum() / (counts > 0).sum().clamp(min=1)
