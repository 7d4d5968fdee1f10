"""Batches of like length, so that little is padded; which rows go where is computed from (seed, epoch), never carried."""

from collections.abc import Iterable, Sequence

import numpy as np

from niwaki.core.seeds import numpy_generator

JITTER_TOKENS = 4  # lengths are blurred by this much, so that an epoch does not repeat the batches of the last one
Lengths = Sequence[int] | np.ndarray


def epoch_batches(lengths: Lengths, batch: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Row numbers of every batch of an epoch, in the order they are trained on."""
    generator = numpy_generator(seed, "batches", epoch)
    blurred = np.asarray(lengths) + generator.random(len(lengths)) * JITTER_TOKENS
    order = np.argsort(blurred, kind="stable")
    batches = [order[start : start + batch] for start in range(0, len(order), batch)]
    return [batches[number] for number in generator.permutation(len(batches))]


def sorted_batches(lengths: Lengths, batch: int, max_tokens: int) -> list[np.ndarray]:
    """Row numbers in batches of like length, longest first, none over `max_tokens` padded tokens (but for single rows)."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, min(batch, max_tokens // max(1, int(lengths[order[start]]))))
        batches.append(order[start : start + size])
        start += size
    return batches


def in_order(parts: Iterable[tuple[np.ndarray, np.ndarray]], lengths: np.ndarray, per_token: bool) -> np.ndarray:
    """What batches gave (their row numbers, and a value for each row, or for each token of the rows, one row behind the
    other) as one array in the order of the rows."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    result = np.zeros((0, 0), dtype=np.float32)
    for rows, part in parts:
        if not result.size:
            result = np.empty((starts[-1] if per_token else len(lengths), part.shape[-1]), dtype=np.float32)
        result[_tokens(rows, starts, lengths) if per_token else rows] = part
    return result


def _tokens(rows: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers of all tokens of some rows."""
    before = np.cumsum(lengths[rows]) - lengths[rows]
    return np.repeat(starts[rows] - before, lengths[rows]) + np.arange(lengths[rows].sum())
