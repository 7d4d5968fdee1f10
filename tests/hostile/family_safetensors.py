"""Files of weights whose header lies."""

import json
import struct
from pathlib import Path
from typing import Any

from hostile.sound import TEXT, Sound


def _parts(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def _spoilt(sound: Sound, folder: Path, spoil: Any, length: int | None = None) -> list[str]:
    """`spoil(table, first tensor's name, body)` gives the new header as text or table, and the body."""
    model = sound.copy("model", folder)
    path = model / "model.safetensors"
    table, body = _parts(path)
    first = min((name for name in table if name != "__metadata__"), key=lambda name: table[name]["data_offsets"])
    read_header, body = spoil(table, first, body)
    text = (read_header if isinstance(read_header, str) else json.dumps(read_header)).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + body)
    return ["predict", str(model), TEXT]


def a_header_of_a_terabyte(sound, folder):
    return _spoilt(sound, folder, lambda table, first, body: (table, body), 1 << 40)


def a_header_that_ends_behind_the_file(sound, folder):
    return _spoilt(sound, folder, lambda table, first, body: (table, b""), 7 << 20)


def a_tensor_twice(sound, folder):
    def spoil(table, first, body):
        text = json.dumps(table)
        return text[:-1] + f", {json.dumps(first)}: {json.dumps(table[first])}}}", body

    return _spoilt(sound, folder, spoil)


def two_tensors_in_one_place(sound, folder):
    def spoil(table, first, body):
        return {**table, "other": dict(table[first])}, body

    return _spoilt(sound, folder, spoil)


def a_hole_between_tensors(sound, folder):
    def spoil(table, first, body):
        del table[first]
        return table, body

    return _spoilt(sound, folder, spoil)


def bytes_behind_the_last_tensor(sound, folder):
    return _spoilt(sound, folder, lambda table, first, body: (table, body + b"#!/bin/sh\n"))


def a_shape_larger_than_its_place(sound, folder):
    def spoil(table, first, body):
        table[first]["shape"] = [1_000_000, 1_000_000]
        return table, body

    return _spoilt(sound, folder, spoil)


def a_shape_whose_product_overflows(sound, folder):
    def spoil(table, first, body):
        table[first]["shape"] = [1 << 32, 1 << 32]
        return table, body

    return _spoilt(sound, folder, spoil)


def a_type_that_is_none(sound, folder):
    def spoil(table, first, body):
        table[first]["dtype"] = "object"
        return table, body

    return _spoilt(sound, folder, spoil)


def thirty_thousand_tensors_of_nothing(sound, folder):
    def spoil(table, first, body):
        return {
            **table,
            **{f"t{k}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for k in range(30_000)},
        }, body

    return _spoilt(sound, folder, spoil)
