"""Arrays that lie in memory while they are small, and in files without a name when they are not."""

import errno
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.core.errors import InputError
from niwaki.data import scratch
from niwaki.data.scratch import GrowingArray, joined, slices, zeros

BLOCKS = some.lists(some.lists(some.integers(-(2**31), 2**31 - 1), max_size=9), max_size=6)


def mapped(array):
    return isinstance(array.base, np.memmap)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "LIMIT_BYTES", 80)
    return tmp_path


def test_room_is_zeros_to_be_filled_in_memory_or_on_disk(folder):
    small, large = zeros(10, np.int64), zeros(11, np.int64)
    assert mapped(large) and not mapped(small)
    for array in (small, large):
        assert not array.any() and array.dtype == np.int64
        array[3:] = 7
        assert array.tolist() == [0] * 3 + [7] * (len(array) - 3)
    assert not list(folder.iterdir())  # without a name: a crash leaves nothing


@given(blocks=BLOCKS, limit=some.sampled_from([0, 20, 1 << 20]))
def test_what_is_added_comes_back_in_order(blocks, limit):
    builder = GrowingArray(np.int32, limit)
    for block in blocks:
        builder.add(np.array(block, dtype=np.int64))
    array = builder.done()
    assert array.tolist() == [*chain(*blocks)] and array.dtype == np.int32
    assert mapped(array) == (array.nbytes > limit)


def test_joined(folder):
    assert not mapped(joined(np.arange(3), np.arange(4)))
    both = joined(joined(np.arange(6), np.arange(6)), np.arange(2))
    assert mapped(both) and both.tolist() == [*range(6), *range(6), 0, 1] and not list(folder.iterdir())


def test_blocks_cover_all_rows_within_the_limit(monkeypatch):
    monkeypatch.setattr(scratch, "PIECE_ROWS", 4)
    for count in range(14):
        found = [list(range(count))[piece] for piece in slices(count)]
        assert [*chain(*found)] == list(range(count)) and all(1 <= len(piece) <= 4 for piece in found)


def test_a_full_disk_is_reported_before_the_array_is_used(folder, monkeypatch):
    """A store into a mapped file that the disk has no room for would end the process without a word."""

    def full(file, start, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        zeros(11, np.int64)
    monkeypatch.setattr(
        "os.posix_fallocate", lambda *given: (_ for _ in ()).throw(OSError(errno.EOPNOTSUPP, "cannot say"))
    )
    assert zeros(11, np.int64).sum() == 0
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 50}))
    with pytest.raises(InputError, match=r"what is kept of the rows \(see TMPDIR\) needs about"):
        zeros(11, np.int64)
    with pytest.raises(InputError, match="see TMPDIR"):
        GrowingArray(np.int64).add(np.arange(11))
