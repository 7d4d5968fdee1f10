"""The header of safetensors files: as the safetensors library reads it; inconsistent headers are rejected (tests/hostile has more)."""

import json
import struct

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from niwaki.core.errors import InputError
from niwaki.core.tensor_file import BYTES, read_header


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file(
        {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a": np.zeros((0, 4), np.int64), "c": np.float16([1.5])},
        path,
        {"format": "np"},
    )
    return path


def test_it_says_what_the_library_says(file):
    found = read_header(file)
    with safe_open(file, "np") as known:
        assert set(found.tensors) == set(known.keys())
        for name, tensor in found.tensors.items():
            array = known.get_tensor(name)
            raw = file.read_bytes()[found.start + tensor.first : found.start + tensor.last]
            assert tensor.shape == array.shape and raw == array.tobytes() and BYTES[tensor.dtype] == array.itemsize
    assert found.numel == 7


def spoil(file, change):
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    table = json.loads(data[8 : 8 + size])
    text = change(table)
    text = (text if isinstance(text, str) else json.dumps(table)).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda table: table["b"].update(dtype="F4"), "is not known"),
        (lambda table: table["b"].update(dtype=["F32"]), "is not known"),
        (lambda table: table["b"].update(shape=[2, 3.0]), "whole numbers"),
        (lambda table: table["b"].update(shape=[True] * 6), "whole numbers"),
        (lambda table: table["b"].update(shape=[-2, -3]), "whole numbers"),
        (lambda table: table["b"].update(shape=[1] * 9), "at most 8"),
        (lambda table: table["b"].update(shape=[2, 4]), "takes 32 bytes and its place has 24"),
        (lambda table: table["b"].update(data_offsets=[24, 0]), "its place has"),
        (lambda table: table["b"].update(evil=1), "nothing else"),
        (lambda table: table.update(d={"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}), "overlaps"),
        (lambda table: table.pop("c"), "the tensors take"),
        (lambda table: table.update({"x" * 600: table.pop("a")}), "characters"),
        (lambda table: table.update(__metadata__={"a": {}}), "table of texts"),
        (lambda table: "[]", "not a table"),
        (lambda table: " {}", "not a table"),
        (lambda table: "{}", "the tensors take 0 bytes"),
    ],
)
def test_an_invalid_header_is_rejected(file, change, words):
    spoil(file, change)
    with pytest.raises(InputError, match=words):
        read_header(file)


@pytest.mark.parametrize("data", [b"", b"\x08", b"\xff" * 8, struct.pack("<Q", 100) + b"{}"])
def test_files_that_are_none(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(InputError, match=r"header"):
        read_header(tmp_path / "x")
