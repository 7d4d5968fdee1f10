"""Batches of like length, so that little is padded; which rows go where is computed from (seed, epoch), never carried."""

from collections.abc import Sequence

import numpy as np

from niwaki.core.seeds import numpy_generator

JITTER_TOKENS = 4  # lengths are blurred by this much, so that an epoch does not repeat the batches of the last one


def epoch_batches(lengths: Sequence[int], batch: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Row numbers of every batch of an epoch, in the order they are trained on."""
    generator = numpy_generator(seed, "batches", epoch)
    blurred = np.asarray(lengths) + generator.random(len(lengths)) * JITTER_TOKENS
    order = np.argsort(blurred, kind="stable")
    batches = [order[start : start + batch] for start in range(0, len(order), batch)]
    return [batches[number] for number in generator.permutation(len(batches))]


def sorted_batches(lengths: Sequence[int], batch: int, max_tokens: int) -> list[np.ndarray]:
    """Row numbers in batches of like length, longest first, none over `max_tokens` padded tokens (but for single rows)."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, min(batch, max_tokens // max(1, lengths[order[start]])))
        batches.append(order[start : start + size])
        start += size
    return batches


def pad(rows: Sequence[Sequence[int]], value: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ragged rows to a rectangle (rows, longest) and the mask that tells real entries from padding."""
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max(initial=1)) < lengths[:, None]
    filled = np.full(mask.shape, value, dtype=np.int64)
    filled[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows]) if len(rows) else []
    return filled, mask
