"""A model on the validation rows, as objectives score it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.seeds import derive
from niwaki.data.batching import sorted_batches
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import Model
from niwaki.objectives._objective import Objective
from niwaki.train.collator import Collator
from niwaki.train.infer import ROWS, TOKENS, evaluating, logits_of
from niwaki.train.precision import autocast


@dataclass(frozen=True)
class ModelValidation:
    """For one state of the weights: logits are computed once."""

    model: Model
    collator: Collator
    precision: str
    seed: int

    @property
    def rows(self) -> EncodedInputs:
        return self.collator.features.rows

    def logits(self) -> np.ndarray:
        return self._logits

    @cached_property
    def _logits(self) -> np.ndarray:
        return logits_of(self.model, self.collator, self.precision)

    @torch.no_grad()
    def passes(self, objective: Objective) -> Iterator[tuple[Outputs, Batch]]:
        with evaluating(self.model, objective.helpers):
            for number, rows in enumerate(sorted_batches(self.collator.lengths, ROWS, TOKENS)):
                generator = generator_of(self.seed, "validation", number)
                with autocast(self.precision, self.collator.device):
                    batch = objective.batch(self.collator.batch(rows), generator)
                    outputs = forward(self.model.anatomy, batch, objective.activations)
                yield outputs, batch


def chance_of(before: np.ndarray, after: np.ndarray) -> float:
    """The probability that errors of rows shrink at least as much if each change were as likely to go the other way: Wilcoxon's one-sided
    signed-rank test, which for answers that are right or wrong is the exact sign test. 1 if no error changed."""
    from scipy.stats import binom, wilcoxon

    gains = before - after
    gains = gains[gains != 0]
    if len(np.unique(np.abs(gains))) <= 1:  # also where nothing changed
        return float(binom.sf(int((gains > 0).sum()) - 1, len(gains), 0.5))
    return float(wilcoxon(gains, alternative="greater").pvalue)


def generator_of(seed: int, *path: str | int) -> torch.Generator:
    """On the CPU, so that masks and noise are the same on every device."""
    return torch.Generator().manual_seed(derive(seed, "objective", *path))
