"""The cache of encoder outputs: bounded, safe for threads, and unimpressed by damaged files."""

import threading

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.engines.encoder_cache import EncoderCache, packed, unpacked


def entry(number: int, rows: int = 4) -> dict[str, np.ndarray]:
    return {"tokens": np.full((rows, 8), number, dtype=np.float32)}  # 32 bytes a row


def never():
    raise AssertionError("was computed")


def test_an_entry_is_computed_once():
    cache = EncoderCache()
    first = cache.get_or_compute("a", lambda: entry(1))
    assert cache.get_or_compute("a", never) is first
    assert (cache.hits, cache.disk_hits, cache.misses, cache.used_bytes) == (1, 0, 1, 128)


def test_what_was_used_least_recently_leaves_memory_first():
    cache = EncoderCache(memory_bytes=256)
    for name in ("a", "b", "a", "c"):
        cache.get_or_compute(name, lambda: entry(1))
    assert cache.used_bytes == 256
    cache.get_or_compute("a", never)
    cache.get_or_compute("c", never)
    with pytest.raises(AssertionError, match="was computed"):
        cache.get_or_compute("b", never)


def test_clearing_empties_the_memory():
    cache = EncoderCache()
    cache.get_or_compute("a", lambda: entry(1))
    cache.clear()
    assert cache.used_bytes == 0 and cache.get_or_compute("a", lambda: entry(2))["tokens"][0, 0] == 2


def test_an_entry_larger_than_the_memory_is_returned_and_not_stored():
    cache = EncoderCache(memory_bytes=256)
    cache.get_or_compute("small", lambda: entry(1))
    assert cache.get_or_compute("large", lambda: entry(2, rows=9))["tokens"].shape == (9, 8)
    assert cache.used_bytes == 128
    cache.get_or_compute("small", never)


def test_a_folder_serves_a_later_process_with_the_same_bits(tmp_path):
    values = {"first": np.random.default_rng(0).normal(size=(1, 8)).astype(np.float32)}
    EncoderCache(folder=tmp_path).get_or_compute("a", lambda: values)
    later = EncoderCache(memory_bytes=0, folder=tmp_path)
    for _ in range(2):
        found = later.get_or_compute("a", never)
        assert found.keys() == values.keys() and np.array_equal(found["first"], values["first"])
    assert (later.hits, later.disk_hits, later.misses) == (0, 2, 0)


@pytest.mark.parametrize("place", [0, 40, -1])
def test_a_damaged_file_is_computed_again(tmp_path, place):
    EncoderCache(folder=tmp_path).get_or_compute("a", lambda: entry(1))
    (file,) = tmp_path.iterdir()
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    cache = EncoderCache(folder=tmp_path)
    assert cache.get_or_compute("a", lambda: entry(2))["tokens"][0, 0] == 2
    assert EncoderCache(folder=tmp_path).get_or_compute("a", never)["tokens"][0, 0] == 2


def test_a_file_that_was_cut_short_is_no_entry():
    content = packed(entry(1))
    assert unpacked(content) is not None
    assert [unpacked(content[:length]) for length in (0, 10, 32, len(content) - 1)] == [None] * 4


def test_a_folder_stays_below_its_limit_and_keeps_what_was_used_last(tmp_path):
    size = len(packed(entry(1)))
    cache = EncoderCache(memory_bytes=0, folder=tmp_path, disk_bytes=10 * size)
    for number in range(40):
        cache.get_or_compute(f"{number:02}", lambda: entry(1))
        cache.get_or_compute("00", lambda: entry(1))
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10 * size
    assert (tmp_path / "00.states").exists() and (tmp_path / "39.states").exists()
    assert not (tmp_path / "01.states").exists()


def test_a_folder_that_is_gone_costs_entries_and_no_answer(tmp_path):
    folder = tmp_path / "cache"
    cache = EncoderCache(memory_bytes=0, folder=folder)
    folder.rmdir()
    assert cache.get_or_compute("a", lambda: entry(3))["tokens"][0, 0] == 3


def test_threads_that_want_the_same_entry_compute_it_once():
    cache, begin, calls = EncoderCache(), threading.Barrier(8), []
    release = threading.Event()

    def compute():
        calls.append(1)
        release.wait(5)
        return entry(1)

    def ask(found):
        begin.wait(5)
        found.append(cache.get_or_compute("a", compute))

    found: list = []
    threads = [threading.Thread(target=ask, args=(found,)) for _ in range(7)]
    for thread in threads:
        thread.start()
    begin.wait(5)
    release.set()
    for thread in threads:
        thread.join(5)
    assert len(calls) == 1 and len(found) == 7 and all(one is found[0] for one in found)


def test_an_error_reaches_the_caller_and_the_next_call_tries_again():
    cache = EncoderCache()
    with pytest.raises(AssertionError):
        cache.get_or_compute("a", never)
    assert cache.get_or_compute("a", lambda: entry(1)) is not None


def test_negative_sizes_are_rejected():
    with pytest.raises(InputError, match="0 or more"):
        EncoderCache(memory_bytes=-1)
