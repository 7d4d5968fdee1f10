"""Rows of different lengths in one array: as lists of lists would have it, in memory or on disk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.data.ragged import Ragged, RaggedWriter

ROWS = some.lists(some.lists(some.integers(-(2**31), 2**31 - 1), max_size=7), max_size=12)


def lists(ragged: Ragged) -> list[list[int]]:
    return [ragged[row].tolist() for row in range(len(ragged))]


@given(blocks=some.lists(ROWS, max_size=5), spill_bytes=some.sampled_from([0, 20, 1 << 20]))
def test_what_is_added_in_blocks_comes_back_in_order_from_memory_or_disk(blocks, spill_bytes):
    builder = RaggedWriter(spill_bytes=spill_bytes)
    for block in blocks:
        builder.add(block)
    ragged, plain = builder.done(), [row for block in blocks for row in block]
    assert lists(ragged) == plain and len(ragged) == len(plain)
    assert ragged.lengths.tolist() == [len(row) for row in plain]
    assert ragged.starts.tolist() == [sum(map(len, plain[:count])) for count in range(len(plain) + 1)]
    assert ragged.values.dtype == np.int32


def test_much_lies_on_disk_and_little_does_not(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    little, much = RaggedWriter(spill_bytes=100), RaggedWriter(spill_bytes=100)
    for builder, count in ((little, 25), (much, 26)):  # 4 bytes each
        builder.add([[1] * count])
        builder.add([[2, 3]] if count == 26 else [])
    assert not isinstance(little.done().values.base, np.memmap)
    ragged = much.done()
    assert isinstance(ragged.values.base, np.memmap) and lists(ragged) == [[1] * 26, [2, 3]]
    assert not list(tmp_path.iterdir())  # the file has no name, so a crash leaves nothing
    with pytest.raises(ValueError, match="read-only"):
        ragged.values[0] = 5


def test_other_kinds_of_values_and_rows_from_a_generator():
    ragged = Ragged.of((range(count) for count in (3, 0, 2)), np.uint8)
    assert lists(ragged) == [[0, 1, 2], [], [0, 1]] and ragged.values.dtype == np.uint8
    with pytest.raises(OverflowError):
        Ragged.of([[256]], np.uint8)


@given(rows=ROWS.filter(bool), fill=some.integers(-100, 100), draw=some.data())
def test_padded_is_what_a_loop_over_lists_makes(rows, fill, draw):
    chosen = draw.draw(some.lists(some.integers(0, len(rows) - 1), max_size=6))
    ragged = Ragged.of(rows)
    filled, mask = ragged.padded(chosen, fill)
    longest = max([1, *(len(rows[row]) for row in chosen)])
    assert filled.shape == mask.shape == (len(chosen), longest) and filled.dtype == np.int64
    assert filled.tolist() == [rows[row] + [fill] * (longest - len(rows[row])) for row in chosen]
    assert mask.tolist() == [[column < len(rows[row]) for column in range(longest)] for row in chosen]
    places, real = ragged.places(np.array(chosen, dtype=np.int64))
    assert ragged.values[places[real]].tolist() == [value for row in chosen for value in rows[row]]
    assert real.tolist() == mask.tolist()


def test_padded_by_hand():
    filled, mask = Ragged.of([[5, 6, 7], [8], []]).padded([0, 1, 2], fill=9)
    assert filled.tolist() == [[5, 6, 7], [8, 9, 9], [9, 9, 9]]
    assert mask.tolist() == [[True] * 3, [True, False, False], [False] * 3]
    assert Ragged.of([[5]]).padded([])[0].shape == (0, 1)


@given(first=ROWS, second=ROWS, spill_bytes=some.sampled_from([0, 1 << 20]))
def test_joined_rows_follow_one_another(first, second, spill_bytes):
    builder = RaggedWriter(spill_bytes=spill_bytes)
    builder.add(first)
    assert lists(builder.done().joined(Ragged.of(second))) == first + second
