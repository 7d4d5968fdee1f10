"""Numbers in a safetensors file that no model has: NaN and infinity. Read with numpy, a block at a time, so that a check needs neither
torch nor the memory for a model."""

from pathlib import Path
from typing import Any

import numpy as np

from niwaki.core.errors import InputError
from niwaki.core.tensor_file import Header, TensorEntry

EXPONENTS: dict[str, tuple[np.dtype[Any], int]] = {
    "F16": (np.dtype("<u2"), 0x7C00),
    "BF16": (np.dtype("<u2"), 0x7F80),
    "F32": (np.dtype("<u4"), 0x7F800000),
    "F64": (np.dtype("<u8"), 0x7FF0000000000000),
}  # type of the file → how its bits are read, and those of the exponent: all are set in NaN and infinity alone
BLOCK = 1 << 22  # numbers


def check_finite(path: Path, header: Header) -> None:
    """Rejects a file in which a tensor holds NaN or infinity; the first such tensor is named."""
    if not any(tensor.numel for tensor in header.tensors.values()):
        return
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=header.start)
    for name, tensor in header.tensors.items():
        if count := _count_not_finite(data, tensor):
            raise InputError(
                f"{path}: tensor '{name}' holds {count} numbers that are infinite or NaN; the file is damaged, or its training diverged: get it again"
            )


def _count_not_finite(data: np.ndarray, tensor: TensorEntry) -> int:
    if tensor.dtype not in EXPONENTS:
        return 0
    kind, exponent = EXPONENTS[tensor.dtype]
    numel = data[tensor.first : tensor.last].view(kind)
    mask = kind.type(exponent)
    blocks = (numel[start : start + BLOCK] for start in range(0, len(numel), BLOCK))
    return sum(int(np.count_nonzero((block & mask) == mask)) for block in blocks)
