"""The program beside the weights: written with a model, read without torch."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.core import strict_json
from niwaki.core.errors import Refused
from niwaki.core.files import write_json
from niwaki.core.inside import inside
from niwaki.core.settings import check
from niwaki.core.tensor_file import header
from niwaki.engines.native.program import Program

if TYPE_CHECKING:
    from niwaki.models.model import Model

PROGRAM, WEIGHTS = "native.json", "model.safetensors"
MOST_BYTES = 8 << 20
READ = {"F32", "F16", "I8", "U8", "I32", "I64"}  # types of tensors in what niwaki saves


def write_program(model: "Model", folder: Path) -> str | None:
    """Adds the program to a folder that the model was saved in; why not, where the engine cannot run the model."""
    from niwaki.engines.native.translate import translate

    try:
        program = translate(model.network, model.anatomy)
    except Refused as refused:
        return str(refused)
    write_json(folder / PROGRAM, program.model_dump(mode="json", exclude_none=True, exclude_defaults=False))
    return None


def read_program(folder: Path) -> Program:
    where = inside(folder, PROGRAM)
    said = strict_json.read(where, MOST_BYTES)
    if not isinstance(said, dict):
        raise Refused(f"{where}: is not a program for the native engine")
    return check(Program, said, str(where))


def read_tensors(folder: Path) -> dict[str, np.ndarray]:
    """All tensors of the file of weights, whose header was checked."""
    from safetensors.numpy import load_file

    where = inside(folder, WEIGHTS)
    found = header(where)
    others = {tensor.dtype for tensor in found.tensors.values()} - READ
    if others:
        raise Refused(f"{where}: the native engine reads no tensors of {', '.join(sorted(others))}; ONNX Runtime does")
    return load_file(where)
