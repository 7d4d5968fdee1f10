"""The program beside the weights: written with a model, read without torch, and only together with the files it was written for."""

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint, write_json
from niwaki.core.path_safety import file_inside
from niwaki.core.settings import check
from niwaki.core.tensor_file import read_header
from niwaki.engines.native.program import Program

if TYPE_CHECKING:
    from niwaki.models.model import Model

PROGRAM, WEIGHTS = "native.json", "model.safetensors"
SHAPE_FILES = ("config.json", "blueprint.json")  # what the program was translated from, besides the weights
DIGESTS = "written_for"  # the key of the program's digests
VERSION_WITHOUT_DIGESTS = 1  # the version of programs without digests
MOST_BYTES = 8 << 20
READ = {"F32", "F16", "I8", "U8", "I32", "I64"}  # types of tensors in what niwaki saves

Tensors = dict[str, np.ndarray]


def write_program(model: "Model", folder: Path) -> str | None:
    """Adds the program to a folder that the model was saved in; why not, where the engine cannot run the model."""
    from niwaki.engines.native.translate import translate

    try:
        program = translate(model.network, model.anatomy)
        ties = _digests(folder, tensors_of(folder))
    except InputError as refused:
        return str(refused)
    values = program.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
    write_json(folder / PROGRAM, {**values, DIGESTS: {PROGRAM: fingerprint(values), **ties}})
    return None


def read_program(folder: Path) -> tuple[Program, Tensors]:
    """The program and its tensors; Refused where the program, or a file that it was written for, was changed since."""
    where = file_inside(folder, PROGRAM)
    values = _read(where)
    if _lacks_digests(values):
        raise InputError(_outdated(folder))
    ties = values.pop(DIGESTS, None)
    program = check(Program, values, str(where))
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
    """A sentence where the program is of the version without digests: nothing shows that it fits its folder, so it is not run."""
    where = folder / PROGRAM
    try:
        return _outdated(folder) if where.is_file() and _lacks_digests(_read(where)) else None
    except InputError:  # loading it says why
        return None


def _lacks_digests(values: dict[str, Any]) -> bool:
    return values.get("version") == VERSION_WITHOUT_DIGESTS and DIGESTS not in values


def _outdated(folder: Path) -> str:
    return f"{folder / PROGRAM}: was written by an older niwaki, without digests, and is not used; {fix(folder)}"


def fix(folder: Path) -> str:
    return f"`niwaki export {folder} --to native` writes a model whose files match, and without {PROGRAM} other engines run this one"


def tensors_of(folder: Path) -> Iterable[tuple[str, np.ndarray]]:
    """All tensors of the file of weights, whose header was checked, one at a time in the order of their names."""
    from safetensors import safe_open

    where = file_inside(folder, WEIGHTS)
    found = read_header(where)
    others = {tensor.dtype for tensor in found.tensors.values()} - READ
    if others:
        raise InputError(
            f"{where}: the native engine reads no tensors of {', '.join(sorted(others))}; ONNX Runtime does"
        )
    with safe_open(where, "np") as file:
        for name in sorted(found.tensors):
            yield name, file.get_tensor(name)


def _read(where: Path) -> dict[str, Any]:
    values = strict_json.load(where, MOST_BYTES)
    if not isinstance(values, dict):
        raise InputError(f"{where}: is not a program for the native engine")
    return values


def _digests(folder: Path, tensors: Iterable[tuple[str, np.ndarray]]) -> dict[str, str]:
    """Digests of the values in the files that a program belongs to; "-" of a file that is not there."""
    found = {WEIGHTS: weights_digest(tensors)}
    for name in SHAPE_FILES:
        path = file_inside(folder, name)
        found[name] = fingerprint(strict_json.load(path)) if path.is_file() else "-"
    return found


def weights_digest(tensors: Iterable[tuple[str, np.ndarray]]) -> str:
    """Over names, types and shapes, and a checksum of every tensor. CRC-32 rather than SHA-256, because this is computed at each load:
    it runs over arrays that are in memory anyway, more than twice as fast, and any accidental change of a tensor shows. It is no
    protection against forgery, and neither would SHA-256 be: who can edit the weights can edit the digest next to them."""
    return fingerprint(
        [[name, str(one.dtype), one.shape, zlib.crc32(np.ascontiguousarray(one).data)] for name, one in tensors]
    )
