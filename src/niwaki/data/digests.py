"""Texts as fixed-size numbers: the first 16 bytes of their sha256, which order and tell apart as the whole does."""

import hashlib
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyarrow import compute

PIECE_ROWS = 1 << 16


def digests(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """High and low 64 bits of each row's digest. Lists count as their parts with a space between, other values as text."""
    found = np.empty((len(column), 16), dtype=np.uint8)
    start = 0
    for chunk in column.chunks:
        for cut in range(0, len(chunk), PIECE_ROWS):
            texts = as_text(chunk.slice(cut, PIECE_ROWS))
            found[start : start + len(texts)] = _of_texts(texts)
            start += len(texts)
    words = found.view(">u8").astype(np.uint64)
    return words[:, 0], words[:, 1]


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
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16)


def numbered(high: np.ndarray, low: np.ndarray) -> tuple[int, np.ndarray]:
    """How many different digests there are, and of each row the place of its digest in their order."""
    order = np.lexsort((low, high))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (high[order[1:]] != high[order[:-1]]) | (low[order[1:]] != low[order[:-1]])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return int(new.sum()), place


def label_ranks(column: pa.ChunkedArray) -> np.ndarray:
    """Each row's label as its place among the different labels, in the order of their texts."""
    if pa.types.is_list(column.type):
        column = pa.chunked_array([as_text(chunk) for chunk in column.chunks], pa.large_string())
    names = sorted({str(value) for value in column.unique().to_pylist()})
    place = {name: rank for rank, name in enumerate(names)}
    coded = [chunk.dictionary_encode(null_encoding="encode") for chunk in column.chunks]
    ranks = [[place[str(value)] for value in chunk.dictionary.to_pylist()] for chunk in coded]
    found = [np.array(its, dtype=np.int64)[chunk.indices.to_numpy()] for its, chunk in zip(ranks, coded, strict=True)]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])
