"""The trunk of a model folder: everything but its head. Heads for the same trunk share it bit by bit.

A head folder states the digest of its trunk in `trunk.json`, so a head is never run on another trunk. No torch here:
deployments check it too.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import BLOCK, fingerprint, sha256, write_json
from niwaki.core.head_folder import WEIGHTS, is_head_folder, trunk_folder
from niwaki.core.path_safety import file_inside
from niwaki.core.tensor_file import read_header
from niwaki.models.config_rules import read as read_config
from niwaki.models.family import family_of

T = TypeVar("T")
TRUNK, VERSION = "trunk.json", 1
TRUNK_FILES = ("blueprint.json", "tokenizer.json")  # they determine what the trunk computes, as its tensors do
HEAD_KEYS = (
    "architectures",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "niwaki_answer",
    "niwaki_pooling",
    "niwaki_exits",
    "niwaki_max_tokens",
)  # of a config: they describe the head
UNRELATED_KEYS = ("transformers_version", "dtype", "torch_dtype")


def is_of_head(name: str, body: str) -> bool:
    """Whether a tensor is part of the head. The pooler is: only heads for whole sequences have one."""
    return not name.startswith(f"{body}.") or is_of_pooler(name)


def is_of_pooler(name: str) -> bool:
    return ".pooler." in name


def is_of_delta(name: str) -> bool:
    """Whether a tensor is part of a delta (`models/deltas`), a prompt or a prefix."""
    return "delta" in name.split(".")


def trunk_name(name: str) -> str:
    """The name that a tensor has in the trunk without deltas."""
    return ".".join(part for part in name.split(".") if part != "base")


def names_with_deltas(trunk: Iterable[str], tuned: Iterable[str]) -> dict[str, str]:
    """What a tuned network calls the tensors of its trunk. A trunk that has deltas itself keeps its names."""
    if any(map(is_of_delta, trunk)):
        return {}
    return {trunk_name(name): name for name in tuned if not is_of_delta(name)}


def with_head(trunk: Mapping[str, T], head: Mapping[str, T], wanted: Collection[str], body: str) -> dict[str, T]:
    """The tensors of a network from a trunk and from a head, which may bring deltas, biases of its own, and a pooler."""
    names, own_pooler = names_with_deltas(trunk, wanted), any(map(is_of_pooler, head))
    state = {
        names.get(name, name): value
        for name, value in trunk.items()
        if not is_of_head(name, body) or (is_of_pooler(name) and name in wanted and not own_pooler)
    }
    return {**state, **head}


def trunk_config(config: dict[str, object]) -> dict[str, object]:
    """The keys of a config that describe the trunk."""
    return {key: value for key, value in config.items() if key not in (*HEAD_KEYS, *UNRELATED_KEYS)}


def trunk_tensors(folder: Path) -> dict[str, str]:
    """A digest of type, shape and bytes for each tensor of the trunk."""
    body = family_of(str(read_config(folder).get("model_type"))).body
    return _digests(folder, lambda name: not is_of_head(name, body))


def pooler_tensors(folder: Path) -> dict[str, str]:
    """The same of the pooler inside the trunk, which deltas mostly leave as it is."""
    return _digests(folder, is_of_pooler)


def _digests(folder: Path, chosen: Callable[[str], bool]) -> dict[str, str]:
    path = file_inside(folder, WEIGHTS)
    start, tensors = read_header(path)
    found = {}
    for name, entry in tensors.items():
        if chosen(name):
            digest = hashlib.sha256(f"{entry.dtype} {list(entry.shape)}\n".encode())
            for block in _blocks(path, start + entry.first, entry.last - entry.first):
                digest.update(block)
            found[name] = digest.hexdigest()
    return found


def _blocks(path: Path, start: int, length: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(min(BLOCK, length)):
            length -= len(block)
            yield block


def trunk_digest(folder: Path) -> str:
    """A digest of all that determines the hidden states: tensors, config, blueprint and tokenizer."""
    files = {name: sha256(path) for name in TRUNK_FILES if (path := file_inside(folder, name)).is_file()}
    return fingerprint({"config": trunk_config(read_config(folder)), "files": files, "tensors": trunk_tensors(folder)})


def write_trunk_digest(head: Path, folder: Path, shares_pooler: bool = False) -> None:
    """`shares_pooler`: the head has no pooler of its own and uses that of the folder."""
    shared = {"pooler": fingerprint(pooler_tensors(folder))} if shares_pooler else {}
    write_json(head / TRUNK, {"version": VERSION, "trunk": trunk_digest(folder), **shared})


def check_trunk(folder: Path) -> None:
    """Rejects a head folder that was saved for another trunk. Does nothing for a model folder."""
    if not is_head_folder(folder):
        return
    stated = strict_json.load(file_inside(folder, TRUNK))
    if not isinstance(stated, dict) or stated.get("version") != VERSION:
        raise InputError(f"{folder / TRUNK}: is damaged, or of a later version of niwaki")
    root = trunk_folder(folder)
    same_pooler = "pooler" not in stated or stated["pooler"] == fingerprint(pooler_tensors(root))
    if stated.get("trunk") != trunk_digest(root) or not same_pooler:
        raise InputError(f"{folder}: was saved for another trunk than {root}; add the head again with niwaki.add_head")
