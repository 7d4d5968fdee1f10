"""The training criterion of senses: cross-entropy over the candidate senses of each target word.

Scores of candidates are those of `answers/_sense_inventory.py`, in torch and with gradients. Training rows agree with the
prior, which was counted on SemCor, so a network can fit them by the prior alone. Two settings work against it: the loss of the
scores without the prior is added, and words with a rare sense weigh more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers._sense_inventory import LEXFILES, PRIORS, SenseInventory
from niwaki.data.ragged import Ragged
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import NO_LABEL, Batch

MAX_WEIGHT = 5.0  # of a rare sense, before weights are divided by their mean
FAR = -1e4  # the score of no candidate; finite, so that a teacher's and a student's can be subtracted
Question = tuple[int, int, tuple[bool, ...]]  # first candidate, the one after the last, and which are correct


class Questions:
    """Numbers the sets of candidates with their correct ones, so that a target is one integer per token."""

    def __init__(self) -> None:
        self.numbers: dict[Question, int] = {}
        self._tables: tuple[np.ndarray, Ragged] | None = None

    def number(self, inventory: SenseInventory, lemma: str, keys: Sequence[str]) -> int:
        """The candidates are the senses of the lemma in all parts of speech: -log p(sense | lemma) is the sum of
        -log p(part of speech) and -log p(sense | part of speech), so one loss serves inputs with and without a part of
        speech. NO_LABEL for words with one candidate, or without a correct one."""
        first, last = inventory.candidates(lemma)
        right = tuple(key in keys for key in inventory.keys[first:last])
        if last - first < 2 or not any(right):
            return NO_LABEL
        return self.numbers.setdefault((first, last, right), len(self.numbers))

    def of_batch(self, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Which tokens are targets (batch, tokens); their candidate ranges (words, 2); which candidates are correct (words, most)."""
        is_target = targets != NO_LABEL
        ranges, right = self._as_tables()
        numbers = targets[is_target].cpu().numpy()
        rows, _ = right.padded(numbers)
        device = targets.device
        return is_target, torch.from_numpy(ranges[numbers]).to(device), torch.from_numpy(rows).bool().to(device)

    def _as_tables(self) -> tuple[np.ndarray, Ragged]:
        """(questions, 2) and ragged; rebuilt after further questions."""
        if self._tables is None or len(self._tables[0]) != len(self.numbers):
            ranges = np.array([question[:2] for question in self.numbers], dtype=np.int64)
            self._tables = ranges, Ragged.of((question[2] for question in self.numbers), np.int8)
        return self._tables


class SenseCriterion:
    """Targets are numbers of `questions`, at the first token of each target word."""

    def __init__(self, inventory: Callable[[], SenseInventory], without_prior: float = 0, balance: float = 0) -> None:
        self.questions = Questions()
        self.without_prior, self.balance = without_prior, balance
        self._inventory = inventory
        self._tables: Tables | None = None

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy over the senses of the lemma; if several are correct, any of them is."""
        if not (batch.targets != NO_LABEL).any():
            return logits.sum() * 0
        is_target, ranges, right = self.questions.of_batch(batch.targets)
        vectors, tables = logits[is_target].float(), self._tables_on(logits.device)
        losses = any_right(candidate_scores(vectors, ranges, tables), right)  # (words,)
        if self.without_prior:
            content = candidate_scores(zero_prior(vectors), ranges, tables)
            losses = losses + self.without_prior * any_right(content, right)
        return (losses * rarity_weights(share_of_right(ranges, right, tables), self.balance)).mean()

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        if not (batch.targets != NO_LABEL).any():
            return student.sum() * 0
        is_target, ranges, _ = self.questions.of_batch(batch.targets)
        tables = self._tables_on(student.device)
        own, others = (candidate_scores(logits[is_target].float(), ranges, tables) for logits in (student, teacher))
        return soft_cross_entropy(own, others, temperature)

    def _tables_on(self, device: torch.device) -> "Tables":
        if self._tables is None or self._tables.codes.device != device:
            self._tables = Tables.of(self._inventory(), device)
        return self._tables


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


def zero_prior(vectors: Tensor) -> Tensor:
    """The same vectors, by which candidates are scored by gloss and lexicographer file only."""
    return functional.pad(vectors[:, : -len(PRIORS)], (0, len(PRIORS)))


def any_right(scores: Tensor, right: Tensor) -> Tensor:
    """(words,): -log of the probability that all right candidates have together."""
    return -torch.logsumexp(torch.log_softmax(scores, dim=1).masked_fill(~right, FAR), dim=1)


def share_of_right(sense_ranges: Tensor, right: Tensor, tables: Tables) -> Tensor:
    """(words,): the share that the correct senses have in the inventory's counts of the lemma."""
    columns = torch.arange(right.shape[1], device=right.device)
    senses = (sense_ranges[:, :1] + columns).clamp(max=len(tables.prior) - 1)  # those behind the last are not right
    return (tables.prior[senses, 0].exp() * right).sum(dim=1)


def rarity_weights(share: Tensor, balance: float) -> Tensor:
    """(words,): share^-balance, at most MAX_WEIGHT, divided by the mean. 0 weighs all words alike."""
    weights = share.pow(-balance).clamp(max=MAX_WEIGHT)
    return weights / weights.mean()
