"""Writes and reads `native.json`, the native engine's program, with digests of the files that it belongs to."""

import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint, write_json
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside
from niwaki.core.settings import check
from niwaki.core.tensor_file import read_header
from niwaki.engines.native.decoder_program import LanguageProgram, TextProgram
from niwaki.engines.native.program import Program

if TYPE_CHECKING:
    from niwaki.models.model import Model

PROGRAM, WEIGHTS = "native.json", "model.safetensors"
SHAPE_FILES = ("config.json", "blueprint.json")  # what the program was translated from, besides the weights
DIGESTS = "written_for"  # the key of the program's digests
VERSION_WITHOUT_DIGESTS = 1  # the version of programs without digests
MAX_BYTES = 8 << 20
NO_NAMES = ("kind", "activation", "head_activation", "pooling")  # texts of a program that name no tensor
READ = {"F32", "F16", "I8", "U8", "I32", "I64"}  # types of tensors in what niwaki saves

Tensors = dict[str, np.ndarray]


def write_program(model: "Model", folder: Path) -> str | None:
    """Adds the program to the folder of a saved model. Returns the reason if the engine does not support the model."""
    from niwaki.engines.native.translate import translate

    try:
        program = translate(model.network, model.anatomy)
        _check_names(program, read_header(file_inside(folder, WEIGHTS)).tensors)
        ties = _digests(folder, tensors_of(folder))
    except InputError as error:
        return str(error)
    values = program.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
    write_json(folder / PROGRAM, {**values, DIGESTS: {PROGRAM: fingerprint(values), **ties}})
    return None


def _check_names(program: Program | LanguageProgram, stored: Container[str]) -> None:
    """Rejects float matrices that checkpoints of their family store transposed, or several as one (GPT-2)."""
    missing = next((name for name in _names(program.model_dump(mode="json")) if name not in stored), None)
    if missing is not None:
        raise InputError(
            f"native engine: '{missing}' is not stored under its own name, as in published checkpoints of its family; "
            "int8 weights are (niwaki export without --precision float)"
        )


def _names(value: object) -> Iterator[str]:
    """Names of tensors in a program."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, str):
                yield from [inner] if key not in NO_NAMES else []
            else:
                yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


def read_program(folder: Path) -> tuple[Program | LanguageProgram, Tensors]:
    """The program and its tensors. Rejects a program if it, or a file that it belongs to, has changed."""
    where = file_inside(folder, PROGRAM)
    values = _read(where)
    if _lacks_digests(values):
        raise InputError(_outdated(folder))
    ties = values.pop(DIGESTS, None)
    kinds: dict[str, type[Program | LanguageProgram]] = {"decoder": TextProgram, "language_model": LanguageProgram}
    kind = next((kinds[key] for key in kinds if key in values), Program)
    program: Program | LanguageProgram = check(kind, values, str(where))
    if not isinstance(ties, dict) or ties.get(PROGRAM) != fingerprint(values):
        raise InputError(f"{where}: was changed since it was written; {fix(folder)}")
    tensors = dict(tensors_of(folder))
    found = _digests(folder, tensors.items())
    changed = [str(folder / name) for name in found if ties.get(name) != found[name]]
    if changed:
        raise InputError(
            f"{', '.join(changed)}: not what {PROGRAM} was written for (changed since, or from another model); {fix(folder)}"
        )
    return program, tensors


def outdated(folder: Path) -> str | None:
    """A message if the program has no digests (version 1): nothing shows that it belongs to its folder, so it is not run."""
    where = folder / PROGRAM
    try:
        return _outdated(folder) if where.is_file() and _lacks_digests(_read(where)) else None
    except InputError:  # loading it raises the error
        return None


def _lacks_digests(values: Json) -> bool:
    return values.get("version") == VERSION_WITHOUT_DIGESTS and DIGESTS not in values


def _outdated(folder: Path) -> str:
    return f"{folder / PROGRAM}: was written by an older niwaki, without digests, and is not used; {fix(folder)}"


def fix(folder: Path) -> str:
    return f"`niwaki export {folder} --to native` writes a model whose files match, and without {PROGRAM} other engines run this one"


def tensors_of(folder: Path) -> Iterable[tuple[str, np.ndarray]]:
    """All tensors of the weights file, one at a time and sorted by name, after a check of the header."""
    from safetensors import safe_open

    where = file_inside(folder, WEIGHTS)
    found = read_header(where)
    others = {tensor.dtype for tensor in found.tensors.values()} - READ
    if others:
        raise InputError(
            f"{where}: the native engine does not read tensors of type {', '.join(sorted(others))}; ONNX Runtime does"
        )
    with safe_open(where, "np") as file:
        for name in sorted(found.tensors):
            yield name, file.get_tensor(name)


def _read(where: Path) -> Json:
    values = strict_json.load(where, MAX_BYTES)
    if not isinstance(values, dict):
        raise InputError(f"{where}: is not a program for the native engine")
    return values


def _digests(folder: Path, tensors: Iterable[tuple[str, np.ndarray]]) -> dict[str, str]:
    """Digests of the files that a program belongs to; "-" for a file that does not exist."""
    found = {WEIGHTS: weights_digest(tensors)}
    for name in SHAPE_FILES:
        path = file_inside(folder, name)
        found[name] = fingerprint(strict_json.load(path)) if path.is_file() else "-"
    return found


def weights_digest(tensors: Iterable[tuple[str, np.ndarray]]) -> str:
    """A digest of names, types, shapes and a checksum of every tensor. It is computed at each load, so it uses CRC-32, which takes less than
    half the time of SHA-256 and detects any accidental change. Neither protects against forgery: whoever can edit the weights can
    edit the digest next to them."""
    checksums = ((name, tensor, zlib.crc32(np.ascontiguousarray(tensor).data)) for name, tensor in tensors)
    return fingerprint([[name, str(tensor.dtype), tensor.shape, checksum] for name, tensor, checksum in checksums])
