"""Token files are whole or made again, mapped and not read, and removed when they take too much space."""

import os

import numpy as np
import pytest

from niwaki.data.token_files import STARTS, TokenFiles

pytestmark = pytest.mark.usefixtures("quick_disk")
WINDOWS = [
    (np.array([5, 6, 7]), np.array([1, 2]), np.array([0, 2])),
    (np.array([8, 9]), np.array([2]), np.array([2])),
]


def rows(found):
    return [found[number].tolist() for number in range(len(found))]


@pytest.mark.parametrize("vocabulary_size, kind", [(65_536, np.uint16), (65_537, np.int32)])
def test_sequences_come_back_mapped(tmp_path, vocabulary_size, kind):
    files = TokenFiles(tmp_path / "tokens")
    assert files.find("a") is None
    for found in (files.put("a", WINDOWS, vocabulary_size, 100), files.find("a")):
        assert rows(found) == [[5], [6, 7], [8, 9]]
        assert isinstance(found.values, np.memmap) and found.values.dtype == kind
    assert files.documents("a").tolist() == [0, 2, 2]


def test_a_kill_while_writing_leaves_nothing_that_is_used(tmp_path):
    def broken():
        yield WINDOWS[0]
        raise KeyboardInterrupt

    files = TokenFiles(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        files.put("a", broken(), 100, 100)
    assert files.find("a") is None
    assert rows(files.put("a", WINDOWS, 100, 100)) == [[5], [6, 7], [8, 9]]


def test_damaged_files_are_removed(tmp_path):
    files = TokenFiles(tmp_path)
    files.put("a", WINDOWS, 100, 100)
    (tmp_path / "a" / STARTS).write_bytes(b"damaged")
    assert files.find("a") is None and not (tmp_path / "a").exists()


def test_the_least_recently_used_files_are_removed_beyond_the_limit(tmp_path):
    files = TokenFiles(tmp_path, limit_bytes=250)
    for number, key in enumerate("abc"):
        files.put(key, WINDOWS, 100, 100)
        os.utime(tmp_path / key, (number, number))
    files.find("a")
    files.put("d", WINDOWS, 100, 100)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["a", "c", "d"]  # each takes 66 bytes
