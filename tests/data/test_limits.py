"""Limits of files of rows: what is within them is read as before."""

import pytest

from niwaki.core.errors import InputError
from niwaki.data import limits
from niwaki.data.limits import depth_of, keys_in


@pytest.mark.parametrize(
    "line, depth",
    [(b"{}", 1), (b'{"a": [[1], [2]]}', 3), (b'{"a": "[[[[", "b": "\\"[["}', 1), (b"1", 0), (b"[" * 90, 33)],
)
def test_depth_counts_brackets_outside_of_strings(line, depth):
    assert depth_of(line) == depth


def test_keys_with_and_without_what_is_known():
    block = b'{"a": ":)", "b": "x\\": y"}\n{"a": 1, "b" : 2}\n'
    found = keys_in(block, set())
    assert {b"a", b"b"} <= found
    plain = b'{"a": 1, "b": "text"}\n' * 3
    assert keys_in(plain, set()) == {b"a", b"b"} == keys_in(plain, {b"a", b"b"})
    assert b"c" in keys_in(plain + b'{"c": 1}\n', {b"a", b"b"})


def test_highly_compressed_files_are_rejected(tmp_path):
    limits.check_growth(tmp_path, 1, limits.FLOOR_BYTES)
    limits.check_growth(tmp_path, 1 << 20, 300 << 20)
    with pytest.raises(InputError, match="unpacks to more than 300 times its size"):
        limits.check_growth(tmp_path, 1 << 20, (300 << 20) + 1)
