"""Weights in one file or in several."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from niwaki.core.errors import InputError
from niwaki.core.shards import INDEX, is_sharded, shard_files, stored_bytes, stored_tensors, weight_paths

FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


@pytest.fixture
def folder(tmp_path):
    save_file({"a": np.ones((2, 3), np.float32)}, tmp_path / FIRST)
    save_file({"b": np.ones(4, np.float16), "c": np.ones(1, np.float32)}, tmp_path / SECOND)
    write_index(tmp_path, {"a": FIRST, "b": SECOND, "c": SECOND})
    return tmp_path


def write_index(folder, weight_map):
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}))


def test_shards_are_read_as_one_file(folder):
    assert is_sharded(folder) and shard_files(folder) == weight_paths(folder) == [folder / FIRST, folder / SECOND]
    found = stored_tensors(folder)
    assert {name: (one.dtype, one.shape) for name, one in found.tensors.items()} == {
        "a": ("F32", (2, 3)),
        "b": ("F16", (4,)),
        "c": ("F32", (1,)),
    }
    assert found.numel == 11 and stored_bytes(folder) == sum((folder / name).stat().st_size for name in (FIRST, SECOND))


def test_one_file_comes_before_an_index(folder):
    save_file({"d": np.ones(1, np.float32)}, folder / "model.safetensors")
    assert not is_sharded(folder) and set(stored_tensors(folder).tensors) == {"d"}


@pytest.mark.parametrize(
    "weight_map, fault",
    [
        ({}, "must have a table 'weight_map'"),
        ({"a": 3}, "must have a table 'weight_map'"),
        ([], "must have a table 'weight_map'"),
        ({"a": "../model.safetensors"}, "files of the same folder"),
        ({"a": "/etc/passwd"}, "files of the same folder"),
        ({"a": "pytorch_model.bin"}, "files of the same folder"),
        ({"a": "other.safetensors"}, "is missing"),
        ({"a": FIRST, "b": SECOND}, "does not list for this file"),
        ({"a": SECOND, "b": SECOND, "c": SECOND}, "lacks tensor 'a'"),
        ({"a": FIRST, "b": SECOND, "c": SECOND, "d": FIRST}, "lacks tensor 'd'"),
    ],
)
def test_an_index_that_does_not_fit_is_rejected_in_one_line(folder, weight_map, fault):
    write_index(folder, weight_map)
    with pytest.raises(InputError, match=fault) as caught:
        stored_tensors(folder)
    assert "\n" not in str(caught.value)
