"""The compiled kernels, and the structures that they read (c/native.h)."""

import ctypes
import os
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_void_p,
)
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from niwaki.engines.native.wordpiece_structures import Character, VocabularyEntry, Wordpiece

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LAYOUT, PAD, MAX_FACTORS = 8, 16, 4  # as in native.h (PAD, MOST_PARTS)
FAST = ("amx", "avx512", "avx_vnni", "avx2", "neon_i8mm", "neon_dot", "neon")  # fastest first
KERNELS = (*FAST, "amx_in_c", "avx_vnni_evex", "four_in_c", "plain")  # the last four are for tests
ACTIVATIONS = ("none", "gelu", "gelu_tanh", "relu", "tanh", "silu")
POOLING = ("cls", "mean", "max", "mean_sqrt_len_tokens", "last")  # in the order of native.h
REQUIREMENTS = "it needs a C compiler (gcc or clang) when niwaki is installed, and an x86 processor with AVX2 or a 64-bit ARM processor"


class Matrix(Structure):
    _fields_: ClassVar = [
        *((name, c_int32) for name in ("inputs", "outputs", "whole")),
        *((name, c_void_p) for name in ("panels", "scale", "sums", "bias")),
    ]


class Linear(Structure):
    _fields_: ClassVar = [("parts", c_int32), ("part", Matrix * MAX_FACTORS)]


class Norm(Structure):
    _fields_: ClassVar = [("gain", c_void_p), ("shift", c_void_p), ("epsilon", c_float), ("width", c_int32)]


class Table(Structure):
    _fields_: ClassVar = [
        ("rows", c_int32),
        ("width", c_int32),
        *((name, c_void_p) for name in ("floats", "codes", "scale")),
    ]


class Expert(Structure):
    _fields_: ClassVar = [("up", Linear), ("down", Linear)]


class Experts(Structure):
    _fields_: ClassVar = [
        ("router", Linear),
        *((name, c_int32) for name in ("count", "active", "mean", "shared")),
        ("expert", POINTER(Expert)),
    ]


class Layer(Structure):
    _fields_: ClassVar = [
        *((name, Linear) for name in ("query", "key", "value", "out", "up", "down", "gate")),
        *((name, Norm) for name in ("attended", "widened")),
        *((name, c_int32) for name in ("heads", "head_size", "activation", "reach", "neighbours")),
        *((name, c_int32) for name in ("window", "dilation", "first_tokens", "causal")),
        ("scale", c_float),
        *((name, c_void_p) for name in ("relative", "attention_bias", "ffn_bias", "turns", "reads")),
        ("experts", POINTER(Experts)),
    ]


class Model(Structure):
    _fields_: ClassVar = [
        *((name, Table) for name in ("tokens", "positions", "types")),
        ("widen", Linear),
        ("embedded", Norm),
        ("project", Linear),
        *((name, Norm) for name in ("last", "answered")),
        *(
            (name, c_int32)
            for name in (
                "first_position",
                "width",
                "depth",
                "per_token",
                "head_parts",
                "head_activation",
                "pooling",
                "unit_length",
                "pre_norm",
            )
        ),
        ("layers", POINTER(Layer)),
        ("order", c_void_p),
        ("head", POINTER(Linear)),
    ]


class Batch(Structure):
    _fields_: ClassVar = [
        *((name, c_int32) for name in ("texts", "tokens", "first", "last")),
        *((name, c_void_p) for name in ("ids", "kinds", "lengths", "found", "left")),
    ]


class Decoder(Structure):
    _fields_: ClassVar = [
        ("tokens", Table),
        ("positions", Table),
        ("widen", Linear),
        ("embedded", Norm),
        ("last", Norm),
        *((name, c_int32) for name in ("width", "depth", "pre_norm")),
        ("own", POINTER(Layer)),
        ("cross", POINTER(Layer)),
        ("output", Linear),
    ]


class Search(Structure):
    _fields_: ClassVar = [
        *((name, c_int32) for name in ("beam", "start", "end", "first", "suppressed", "renormalizes")),
        ("length_penalty", c_double),
        ("suppress", c_void_p),
    ]


class Generation(Structure):
    _fields_: ClassVar = [
        *((name, c_int32) for name in ("texts", "tokens", "longest")),
        *((name, c_void_p) for name in ("lengths", "hidden", "targets", "found")),
        *((name, c_int32) for name in ("blocks", "block")),
        ("memory", c_void_p),
        ("block_floats", c_size_t),
        ("used", c_size_t),
        *((name, c_int32) for name in ("length", "rows")),
    ]


class Step(Structure):
    _fields_: ClassVar = [("start", c_void_p), ("rows", c_int32)]


class Reading(Structure):
    _fields_: ClassVar = [
        *((name, c_int32) for name in ("number", "rows", "wanted", "places")),
        *((name, c_void_p) for name in ("tokens", "parents", "parent_steps", "place", "which")),
        ("steps", POINTER(Step)),
        ("logits", c_void_p),
    ]


GENERATION = (POINTER(Decoder), POINTER(Search), POINTER(Generation))


class Kernels(Structure):
    """The functions for one kind of processor. ctypes releases the GIL while they run."""

    _fields_: ClassVar = [
        ("name", c_char_p),
        ("lanes", c_int32),
        ("last_code", c_int32),
        ("less", c_int32),
        ("panel_bytes", ctypes.CFUNCTYPE(c_size_t, c_int32, c_int32, c_int32)),
        ("pack", ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_int32, c_int32, c_void_p)),
        ("scratch_bytes", ctypes.CFUNCTYPE(c_size_t, POINTER(Model), POINTER(Batch), c_int32)),
        ("forward", ctypes.CFUNCTYPE(None, POINTER(Model), POINTER(Batch), c_int32, c_void_p, c_void_p)),
        ("generation_bytes", ctypes.CFUNCTYPE(c_size_t, *GENERATION, c_int32)),
        ("block_floats", ctypes.CFUNCTYPE(c_size_t, *GENERATION)),
        ("generate", ctypes.CFUNCTYPE(c_int32, *GENERATION, c_int32, c_void_p)),
        ("reading_bytes", ctypes.CFUNCTYPE(c_size_t, POINTER(Decoder), POINTER(Reading), c_int32)),
        ("reading_floats", ctypes.CFUNCTYPE(c_size_t, POINTER(Decoder), c_int32)),
        ("read", ctypes.CFUNCTYPE(None, POINTER(Decoder), POINTER(Reading), c_int32, c_void_p)),
        ("activate", ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_int32)),
        ("normalize", ctypes.CFUNCTYPE(None, c_void_p, c_int32, POINTER(Norm))),
        ("round_rows", ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_int32, c_void_p, c_void_p, c_void_p)),
        ("softmax", ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_int32, c_int32)),
        ("product", ctypes.CFUNCTYPE(None, c_void_p, c_int32, POINTER(Matrix), c_void_p, c_int32, c_void_p, c_void_p)),
    ]


STRUCTURES = (
    *(
        Matrix,
        Linear,
        Norm,
        Table,
        Expert,
        Experts,
        Layer,
        Model,
        Batch,
        Decoder,
        Search,
        Generation,
        Step,
        Reading,
        Kernels,
    ),
    *(Character, VocabularyEntry, Wordpiece),
)


@cache
def library() -> Any | None:
    """The compiled library, or None if none was built for this version. NIWAKI_KERNELS names another file, for tests."""
    given = os.environ.get("NIWAKI_KERNELS")
    for path in [Path(given)] if given else sorted(Path(__file__).parent.glob("_kernels*.so")):
        try:
            found = ctypes.CDLL(str(path))
            sizes = (c_int32 * len(STRUCTURES))()
            found.niwaki_sizes(sizes)
        except (OSError, AttributeError):  # built for another machine, or not a library of niwaki
            continue
        if found.niwaki_layout() == LAYOUT and list(sizes) == [ctypes.sizeof(structure) for structure in STRUCTURES]:
            found.niwaki_kernels.restype = POINTER(Kernels)
            found.niwaki_fill_pieces.argtypes = (POINTER(Wordpiece), c_void_p, c_int32)
            found.niwaki_encode.argtypes = (
                POINTER(Wordpiece),
                c_char_p,
                c_void_p,
                c_void_p,
                c_int32,
                c_int32,
                c_void_p,
                c_void_p,
                c_void_p,
            )
            found.niwaki_encode.restype = c_int64
            return found
    return None


@cache
def kernels(name: str) -> Any | None:
    """The kernels of that name, or None if the library or the processor does not have them."""
    found = library() and library().niwaki_kernels(name.encode())  # type: ignore[union-attr]
    return found.contents if found else None


def best() -> str | None:
    """The name of the fastest kernels that this processor runs, without those for tests."""
    return next((name for name in FAST if kernels(name)), None)


def padded(width: int) -> int:
    return -(-width // PAD) * PAD


def aligned(count: int, kind: "npt.DTypeLike") -> "np.ndarray":
    """Zeros, aligned to 64 bytes."""
    import numpy as np

    size = count * np.dtype(kind).itemsize
    room = np.zeros(size + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size].view(kind)
