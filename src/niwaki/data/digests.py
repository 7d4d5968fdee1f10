"""Texts as fixed-size numbers: the first 16 bytes of their sha256, which order and tell apart as the whole does."""

import hashlib
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.data.scratch import slices, zeros

SORTED_ROWS = 1 << 19


def digests(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """High and low 64 bits of each row's digest. Lists count as their parts with a space between, other values as text."""
    high, low = zeros(len(column), np.uint64), zeros(len(column), np.uint64)
    start = 0
    for chunk in column.chunks:
        for piece in slices(len(chunk)):
            texts = as_text(chunk[piece])
            rows = slice(start, start + len(texts))
            high[rows], low[rows] = _of_texts(texts).T
            start += len(texts)
    return high, low


def as_text(chunk: pa.Array) -> pa.Array:
    if pa.types.is_list(chunk.type):
        chunk = compute.binary_join(chunk.cast(pa.list_(pa.string())), " ")
    return chunk.cast(pa.large_string()).fill_null("")


def _of_texts(texts: pa.Array) -> np.ndarray:
    """Digests taken from Arrow's own bytes: no Python text is made."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1].tolist()
    view, sha = memoryview(data or b""), hashlib.sha256
    joined = b"".join([sha(view[start:end]).digest()[:16] for start, end in pairwise(ends)])
    return np.frombuffer(joined, dtype=">u8").reshape(-1, 2)


def numbered(high: np.ndarray, low: np.ndarray) -> tuple[int, np.ndarray]:
    """How many different digests there are, and of each row the place of its digest in their order."""
    place, count = zeros(len(high), np.int64), 0
    for rows in by_range(high):
        order = rows[np.lexsort((low[rows], high[rows]))]
        first, second = high[order], low[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        place[order] = np.cumsum(new) + (count - 1)
        count += int(new.sum())
    return count, place


def by_range(high: np.ndarray) -> Iterator[np.ndarray]:
    """Numbers of rows, range after range of their digests: equal ones fall together, and different ones spread evenly,
    so that few rows are sorted at once."""
    ranges = max(1, -(-len(high) // SORTED_ROWS))
    width = (1 << 64) // ranges + 1
    for number in range(ranges):
        least, most = np.uint64(number * width), np.uint64(min((number + 1) * width, 1 << 64) - 1)
        found = (
            piece.start + np.flatnonzero((high[piece] >= least) & (high[piece] <= most)) for piece in slices(len(high))
        )
        yield np.concatenate([np.empty(0, dtype=np.int64), *found])


def label_ranks(column: pa.ChunkedArray) -> np.ndarray:
    """Each row's label as its place among the different labels, in the order of their texts."""
    place = {name: rank for rank, name in enumerate(sorted(names_in(column)))}
    found, start = zeros(len(column), np.int32), 0
    for chunk in column.chunks:
        coded = listless(chunk).dictionary_encode(null_encoding="encode")
        ranks = np.array([place[str(value)] for value in coded.dictionary.to_pylist()], dtype=np.int32)
        found[start : start + len(chunk)] = ranks[coded.indices.to_numpy()]
        start += len(chunk)
    return found


def names_in(column: pa.ChunkedArray) -> set[str]:
    return {str(value) for chunk in column.chunks for value in listless(chunk).unique().to_pylist()}


def listless(chunk: pa.Array) -> pa.Array:
    return as_text(chunk) if pa.types.is_list(chunk.type) else chunk
