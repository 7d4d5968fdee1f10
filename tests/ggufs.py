"""Writes tiny GGUF files, byte by byte, as the format says."""

import struct
from pathlib import Path

import numpy as np

TEXT, LIST, WHOLE, FLOAT, FLAG = 8, 9, 4, 6, 7
F32, Q8_0 = 0, 8


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value(given: object) -> bytes:
    """With its type before it."""
    if isinstance(given, bool):
        return struct.pack("<I?", FLAG, given)
    if isinstance(given, str):
        return struct.pack("<I", TEXT) + text(given)
    if isinstance(given, int):
        return struct.pack("<II", WHOLE, given)
    if isinstance(given, float):
        return struct.pack("<If", FLOAT, given)
    assert isinstance(given, list)
    kind = {str: TEXT, int: WHOLE, float: FLOAT}[type(given[0])]
    items = b"".join(text(one) if kind == TEXT else struct.pack("<I" if kind == WHOLE else "<f", one) for one in given)
    return struct.pack("<IIQ", LIST, kind, len(given)) + items


def packed(array: np.ndarray, kind: int) -> bytes:
    """Floats, or 8-bit numbers with a scale for each 32 of a row."""
    if kind == F32:
        return array.astype("<f4").tobytes()
    blocks = array.reshape(-1, 32)
    scale = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype("<f2")
    codes = np.rint(blocks / scale.astype(np.float32)).astype(np.int8)
    return b"".join(one.tobytes() + row.tobytes() for one, row in zip(scale, codes, strict=True))


def content(metadata: dict, tensors: dict[str, tuple[np.ndarray, int]], version: int = 3, alignment: int = 32) -> bytes:
    """The bytes of a file."""
    entries = b"".join(text(name) + value(given) for name, given in metadata.items())
    described, data = b"", b""
    for name, (array, kind) in tensors.items():
        dimensions = struct.pack(f"<I{array.ndim}Q", array.ndim, *reversed(array.shape))
        described += text(name) + dimensions + struct.pack("<IQ", kind, len(data))
        data += packed(array, kind)
        data += b"\0" * (-len(data) % alignment)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata)) + entries + described
    return head + b"\0" * (-len(head) % alignment) + data


def write(path: Path, metadata: dict, tensors: dict[str, tuple[np.ndarray, int]], **more: int) -> Path:
    path.write_bytes(content(metadata, tensors, **more))
    return path
