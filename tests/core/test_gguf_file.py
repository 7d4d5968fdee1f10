"""Headers of GGUF files: what is read, and damage that is rejected in one line."""

import struct

import numpy as np
import pytest

import ggufs
from niwaki.core.errors import InputError
from niwaki.core.gguf_file import TYPES, read_gguf

METADATA = {"general.name": "é", "a.count": 3, "a.rate": 0.5, "a.flag": True, "a.words": ["x", "yz"], "a.ids": [7, 8]}
TABLE = np.arange(6, dtype=np.float32).reshape(2, 3)
WIDE = np.ones((2, 64), np.float32)
TENSORS = {"table": (TABLE, ggufs.F32), "wide": (WIDE, ggufs.Q8_0)}


def read(data, tmp_path):
    return read_gguf(tmp_path / "x.gguf", memoryview(data))


@pytest.mark.parametrize("alignment", [32, 64])
@pytest.mark.parametrize("version", [2, 3])
def test_entries_and_places_are_those_of_the_file(version, alignment, tmp_path):
    metadata = {**METADATA, "general.alignment": alignment}
    data = ggufs.content(metadata, TENSORS, version=version, alignment=alignment)
    found = read(data, tmp_path)
    assert found.metadata == metadata
    table, wide = found.tensors["table"], found.tensors["wide"]
    assert table.shape == (2, 3) and wide.shape == (2, 64) and wide.kind.name == "Q8_0"
    assert np.array_equal(np.frombuffer(data[table.first : table.last], "<f4").reshape(2, 3), TABLE)
    assert table.first % alignment == wide.first % alignment == 0 and wide.last - wide.first == 4 * 34


def test_every_cut_of_a_file_is_rejected(tmp_path):
    data = ggufs.content(METADATA, TENSORS)
    whole = max(tensor.last for tensor in read(data, tmp_path).tensors.values())
    for length in range(whole):
        with pytest.raises(InputError, match=r"is not a GGUF file|is cut short|leads out of the file"):
            read(data[:length], tmp_path)


def swapped(old: bytes, new: bytes) -> bytes:
    data = ggufs.content(METADATA, TENSORS)
    assert data.count(old) == 1
    return data.replace(old, new)


DAMAGE = {
    "is not a GGUF file": lambda: b"GGML" + ggufs.content(METADATA, TENSORS)[4:],
    "is of version 9": lambda: ggufs.content(METADATA, TENSORS, version=9),
    "states 18446744073709551615 tensors": lambda: b"GGUF" + struct.pack("<IQQ", 3, 2**64 - 1, 0),
    "metadata entries, and none": lambda: b"GGUF" + struct.pack("<IQQ", 3, 0, 10**9),
    "bytes of a text": lambda: swapped(ggufs.text("a.count"), struct.pack("<Q", 2**40) + b"a.count"),
    "items of a list": lambda: swapped(struct.pack("<IIQ", 9, 8, 2), struct.pack("<IIQ", 9, 8, 2**50)),
    "a metadata entry of type 77": lambda: swapped(struct.pack("<II", 4, 3), struct.pack("<II", 77, 3)),
    "a list of type 9": lambda: swapped(struct.pack("<IIQ", 9, 8, 2), struct.pack("<IIQ", 9, 9, 2)),
    "that is not UTF-8": lambda: swapped("é".encode(), b"\xff\xff"),
    "the metadata entry 'a.rate' twice": lambda: swapped(b"a.flag", b"a.rate"),
    "a tensor of 9 dimensions": lambda: swapped(ggufs.text("table") + b"\2", ggufs.text("table") + b"\t"),
    "a tensor of shape": lambda: swapped(struct.pack("<QQ", 3, 2), struct.pack("<QQ", 0, 2)),
    "type Q2_K, which is not read; take a file with one of: F32": lambda: ggufs.content({}, {"x": (TABLE, 0)}).replace(
        struct.pack("<QQI", 3, 2, 0), struct.pack("<QQI", 3, 2, 10)
    ),
    "no whole blocks of Q8_0": lambda: ggufs.content({}, {"x": (TABLE, 0)}).replace(
        struct.pack("<QQI", 3, 2, 0), struct.pack("<QQI", 3, 2, 8)
    ),
    "leads out of the file, or overlaps": lambda: swapped(
        struct.pack("<QQIQ", 64, 2, 8, 32), struct.pack("<QQIQ", 64, 2, 8, 0)
    ),
    "states general.alignment = 0": lambda: ggufs.content({"general.alignment": 0}, TENSORS),
}


@pytest.mark.parametrize("problem", DAMAGE)
def test_damage_is_rejected_in_one_line(problem, tmp_path):
    with pytest.raises(InputError) as caught:
        read(DAMAGE[problem](), tmp_path)
    assert problem in str(caught.value) and "\n" not in str(caught.value)


def test_sizes_of_blocks_are_those_of_the_format():
    sizes = {kind.name: kind.size * 8 / kind.numbers for kind in TYPES.values()}  # bits of a number
    assert sizes["Q4_0"] == 4.5 and sizes["Q4_1"] == 5 and sizes["Q8_0"] == 8.5
    assert sizes["Q4_K"] == 4.5 and sizes["Q6_K"] == 6.5625
