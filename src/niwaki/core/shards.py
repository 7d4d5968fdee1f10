"""Weights of a model folder in one safetensors file or in several, which model.safetensors.index.json lists.

Models are published in several files; niwaki saves one. No torch here: prediction reads headers too.
"""

import re
from pathlib import Path

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.head_folder import WEIGHTS, weight_files
from niwaki.core.path_safety import file_inside
from niwaki.core.tensor_file import MAX_HEADER_BYTES, MAX_TENSORS, Header, TensorEntry, read_header

INDEX = f"{WEIGHTS}.index.json"
NAME = re.compile(r"[\w.-]{1,200}\.safetensors")
MAX_SHARDS = 500


def is_sharded(folder: Path) -> bool:
    return not (folder / WEIGHTS).is_file() and (folder / INDEX).is_file()


def shard_files(folder: Path) -> list[Path]:
    """The files that hold a folder's weights, each inside the folder."""
    if not is_sharded(folder):
        return [folder / WEIGHTS]
    names = sorted(set(_weight_map(folder).values()))
    if len(names) > MAX_SHARDS or not all(NAME.fullmatch(name) for name in names):
        raise InputError(f"{folder / INDEX}: must list at most {MAX_SHARDS} safetensors files of the same folder")
    paths = [file_inside(folder, name) for name in names]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: is missing, and {INDEX} lists it; get it again")
    return paths


def weight_paths(folder: Path) -> list[Path]:
    """The files that hold the weights of a model folder or a head folder."""
    return shard_files(folder) if is_sharded(folder) else weight_files(folder)


def stored_tensors(folder: Path) -> Header:
    """All tensors of a folder, as if they were in one file. With several files, `start` has no meaning."""
    if not is_sharded(folder):
        return read_header(folder / WEIGHTS)
    listed, found = _weight_map(folder), dict[str, TensorEntry]()
    for path in shard_files(folder):
        tensors = read_header(path).tensors
        for name in tensors:
            if listed.get(name) != path.name:
                raise InputError(f"{path}: has tensor '{name}', which {INDEX} does not list for this file")
        found |= tensors
    for name in listed:
        if name not in found:
            raise InputError(f"{folder / listed[name]}: lacks tensor '{name}', which {INDEX} lists for it")
    return Header(0, found)


def stored_bytes(folder: Path) -> int:
    """Size of the weights on disk."""
    return sum(path.stat().st_size for path in shard_files(folder))


def _weight_map(folder: Path) -> dict[str, str]:
    path = file_inside(folder, INDEX)
    values = strict_json.load(path, MAX_HEADER_BYTES)
    listed = values.get("weight_map") if isinstance(values, dict) else None
    if (
        not isinstance(listed, dict)
        or not 1 <= len(listed) <= MAX_TENSORS
        or not all(_is_text(one) for one in listed.values())
    ):
        raise InputError(f"{path}: must have a table 'weight_map' from the names of tensors to files")
    return listed


def _is_text(value: object) -> bool:
    return isinstance(value, str)
