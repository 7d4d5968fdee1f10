"""Digests of texts, compared with hashlib."""

import hashlib

import numpy as np
import pyarrow as pa

from niwaki.data import digests


def expected(text: str) -> tuple[int, int]:
    whole = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(whole[:8], "big"), int.from_bytes(whole[8:16], "big")


def test_digests_are_the_first_16_bytes_of_sha256():
    chunks = [pa.array(["a film", None, "é"]), pa.array(["skipped", "plot"]).slice(1)]
    high, low = digests.digests(pa.chunked_array(chunks))
    texts = ["a film", "", "é", "plot"]
    assert list(zip(high.tolist(), low.tolist(), strict=True)) == [expected(text) for text in texts]


def test_lists_count_as_their_joined_text():
    lists = pa.chunked_array([pa.array([["a", "film"], ["a film"]])])
    high, low = digests.digests(lists)
    assert high[0] == high[1] == expected("a film")[0] and low[0] == low[1]


def test_equal_digests_get_the_same_number_in_every_range(monkeypatch):
    draw = np.random.default_rng(0)
    high = draw.integers(0, 1 << 64, 40, dtype=np.uint64)[draw.integers(0, 40, 200)]
    low = high % np.uint64(3)
    whole = digests.numbered(high, low)
    monkeypatch.setattr(digests, "SORTED_ROWS", 7)
    count, place = digests.numbered(high, low)
    assert count == whole[0] == len(set(high.tolist())) and place.tolist() == whole[1].tolist()
    order = sorted(set(high.tolist()))
    assert place.tolist() == [order.index(value) for value in high.tolist()]


def test_labels_are_ranked_by_their_text():
    column = pa.chunked_array([pa.array(["b", "a"]), pa.array(["é", None, "a"])])
    assert digests.label_ranks(column).tolist() == [2, 1, 3, 0, 1]  # None as "None", before lower case
