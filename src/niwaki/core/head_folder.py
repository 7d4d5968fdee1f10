"""Paths of further heads: `heads/<name>/` in a model folder shares the encoder and the tokenizer of that folder.

A head folder can be given wherever a model folder is read. It has its own config, the tensors of its head, the files of its
answer type, an ONNX graph and a MANIFEST. Adding or removing a head adds or removes one folder.
"""

import re
from pathlib import Path

from niwaki.core.errors import InputError, did_you_mean

HEADS, HEAD_WEIGHTS, WEIGHTS = "heads", "head.safetensors", "model.safetensors"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def is_head_folder(folder: Path) -> bool:
    return (folder / HEAD_WEIGHTS).exists() and folder.resolve().parent.name == HEADS


def trunk_folder(folder: Path) -> Path:
    """The folder of the encoder and the tokenizer: for a head folder the one that contains it, otherwise the folder itself."""
    return folder.resolve().parent.parent if is_head_folder(folder) else folder


def weight_files(folder: Path) -> list[Path]:
    """The weights of a model folder, or those of the trunk and the head of a head folder."""
    if not is_head_folder(folder):
        return [folder / WEIGHTS]
    return [trunk_folder(folder) / WEIGHTS, folder.resolve() / HEAD_WEIGHTS]


def head_names(folder: Path) -> list[str]:
    """The further heads of a model folder."""
    found = (folder / HEADS).iterdir() if (folder / HEADS).is_dir() else ()
    return sorted(path.name for path in found if NAME.fullmatch(path.name) and (path / HEAD_WEIGHTS).is_file())


def head_path(folder: Path, name: str) -> Path:
    """The folder of a head, which need not exist. Rejects names and links that lead out of the model folder."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"head {name[:80]!r}: a name has at most 64 lowercase letters, digits, '-' and '_', and starts with a letter or digit"
        )
    path = folder / HEADS / name
    if path.is_symlink() or path.parent.is_symlink():
        raise InputError(f"{path}: is a link; put a copy of the folder there")
    return path


def existing_head(folder: Path, name: str) -> Path:
    """The folder of a head, or an error that lists the heads."""
    path = head_path(folder, name)
    if not (path / HEAD_WEIGHTS).is_file():
        names = head_names(folder)
        raise InputError(f"{folder}: has no head '{name}'{did_you_mean(name, names) if names else ''}")
    return path
