"""Base of objectives on sentences that follow one another: batches are made of runs of them."""

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.seeds import numpy_generator
from niwaki.core.settings import Settings, setting
from niwaki.models.features import Features
from niwaki.models.forward import Batch
from niwaki.objectives._objective import ComparesRows
from niwaki.objectives.supervised import Supervised


@runtime_checkable
class HasSentences(Protocol):
    """A task whose rows are sentences in order; the target of each is the number of its document."""

    @property
    def has_sentences(self) -> bool: ...


class SentenceObjective(Supervised):
    """Scored by the task, as in supervised training."""

    def check(self) -> None:
        if not isinstance(self.task, HasSentences):
            raise InputError(
                f"train.objective: reads sentences of plain texts, which task '{self.task.name}' does not have; take task 'sentence_embedding'"
            )


class NeighbourSettings(Settings):
    run: int = setting(16, "sentences in a row; a batch has several such runs", ge=2, le=65_536)


class Neighbours(ComparesRows, SentenceObjective):
    settings: ClassVar[type[Settings]] = NeighbourSettings

    def batches(self, features: Features, size: int, seed: int, epoch: int) -> list[np.ndarray]:
        assert isinstance(self.chosen, NeighbourSettings)
        return consecutive_batches(len(features), size, self.chosen.run, seed, epoch)


def consecutive_batches(rows: int, size: int, run: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Batches of `size` rows, made of runs of consecutive rows in random order. Runs begin elsewhere in every epoch; the rows that
    fill no run are left out."""
    generator, run = numpy_generator(seed, "runs", epoch), min(run, size, rows)
    count = max(1, rows // run)
    order = np.roll(np.arange(rows), int(generator.integers(run)))[: count * run].reshape(count, run)
    shuffled, each = order[generator.permutation(count)], max(1, size // run)
    return [shuffled[start : start + each].ravel() for start in range(0, count, each)]


def distances(batch: Batch) -> Tensor:
    """(rows, rows): how many sentences behind each one another lies; 0 for itself and for those of other documents."""
    rows, documents = batch.rows.to(batch.targets.device), batch.targets
    same = documents[:, None] == documents[None]
    return torch.where(same, rows[None] - rows[:, None], 0)
