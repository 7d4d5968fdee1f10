"""The compiled training kernels, and the structures that they read (c/*.h)."""

import ctypes
import os
import threading
from ctypes import Structure, c_float, c_int32, c_int64, c_uint32, c_void_p
from functools import cache
from pathlib import Path
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn

PANEL, NARROW, TALL, LANES = 64, 48, 8, 16  # as in pack.h and vectors.h
NOTHING, GELU, TIMES_SLOPE, GELU_TANH = range(4)  # as in product.h


class Dropout(Structure):
    _fields_: ClassVar = [("seed", c_uint32), ("salt", c_uint32), ("limit", c_uint32), ("scale", c_float)]


class Context(Protocol):
    """What torch hands to the passes of an autograd function."""

    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]
    settings: tuple[int, float, Dropout]  # head size (of attention), scale or epsilon, dropout

    def save_for_backward(self, *tensors: Tensor | None) -> None: ...


class Weights(Structure):
    _fields_: ClassVar = [
        ("w", c_void_p),
        *((name, c_int64) for name in ("outputs", "inputs", "all_outputs", "before")),
        *((name, c_void_p) for name in ("for_inputs", "for_outputs")),
    ]


class Activations(Structure):
    _fields_: ClassVar = [
        ("x", c_void_p),
        *((name, c_int64) for name in ("tokens", "width", "stride")),
        *((name, c_void_p) for name in ("panels", "blocks", "sums")),
    ]


class Product(Structure):
    _fields_: ClassVar = [
        *((name, c_void_p) for name in ("a", "panels")),
        *((name, c_int64) for name in ("rows", "columns", "pairs", "row_step")),
        ("then", c_int32),
        *((name, c_void_p) for name in ("bias", "out", "slope")),
        ("stride", c_int64),
    ]


class WeightGradient(Structure):
    _fields_: ClassVar = [
        *((name, c_void_p) for name in ("blocks", "panels")),
        *((name, c_int64) for name in ("rows", "columns", "pairs")),
        ("out", c_void_p),
    ]


class Norm(Structure):
    _fields_: ClassVar = [
        *((name, c_int64) for name in ("rows", "width")),
        *((name, c_void_p) for name in ("x", "residual", "gain", "shift")),
        ("epsilon", c_float),
        ("dropout", Dropout),
        *((name, c_void_p) for name in ("sum", "out", "mean", "rstd", "gradient")),
        *((name, c_void_p) for name in ("sum_gradient", "x_gradient", "gain_gradient", "shift_gradient")),
    ]


class Attention(Structure):
    _fields_: ClassVar = [
        *((name, c_int64) for name in ("sequences", "heads", "head_size")),
        *((name, c_void_p) for name in ("query_start", "queries", "start", "tokens", "places")),
        ("scale", c_float),
        ("dropout", Dropout),
        *((name, c_void_p) for name in ("query", "key", "value")),
        *((name, c_int64) for name in ("query_stride", "key_stride", "value_stride")),
        *((name, c_void_p) for name in ("weights", "out", "gradient")),
        *((name, c_void_p) for name in ("query_gradient", "key_gradient", "value_gradient")),
        *((name, c_int64) for name in ("query_gradient_stride", "key_gradient_stride", "value_gradient_stride")),
        ("scratch", c_void_p),
        ("scratch_floats", c_int64),
        ("causal", c_int64),
        *((name, c_void_p) for name in ("score_places", "scores", "scores_gradient")),
    ]


class PreNorm(Structure):
    _fields_: ClassVar = [
        *((name, c_int64) for name in ("rows", "width")),
        *((name, c_void_p) for name in ("x", "gain", "shift")),
        ("epsilon", c_float),
        *((name, c_void_p) for name in ("out", "mean", "rstd", "gradient")),
        *((name, c_void_p) for name in ("x_gradient", "gain_gradient", "shift_gradient")),
    ]


class CrossEntropy(Structure):
    _fields_: ClassVar = [
        *((name, c_int64) for name in ("rows", "classes", "stride")),
        *((name, c_void_p) for name in ("logits", "targets")),
        ("scale", c_float),
        *((name, c_void_p) for name in ("losses", "gradient")),
    ]


STRUCTURES = (Weights, Activations, Product, WeightGradient, Norm, Attention, PreNorm, CrossEntropy)


@cache
def library() -> ctypes.CDLL | None:
    """The library, or None where it was not compiled or where torch's own products are faster: on processors with AMX.
    NIWAKI_TRAINING_KERNELS names another file, for tests."""
    given = os.environ.get("NIWAKI_TRAINING_KERNELS")
    if torch.cpu._is_amx_tile_supported() and not given:
        return None
    for path in [Path(given)] if given else sorted(Path(__file__).parent.glob("_training*.so")):
        try:
            found = ctypes.CDLL(str(path))
            usable = bool(found.niwaki_training())
            sizes = (c_int64 * 64)()  # a library of another version may have more structures
            found.niwaki_sizes(sizes)
        except (OSError, AttributeError):  # built for another machine, or not a library of niwaki
            continue
        if usable and [size for size in sizes if size] == [ctypes.sizeof(structure) for structure in STRUCTURES]:
            return found
    return None


def run(name: str, given: Structure) -> None:
    """Runs a kernel on torch's threads."""
    getattr(library(), f"niwaki_{name}")(ctypes.byref(given), torch.get_num_threads())


def usable(rows: Tensor, dtype: torch.dtype = torch.bfloat16) -> bool:
    """Whether the kernels can work on these rows, on the processor while training with autocast."""
    return (
        rows.dtype == dtype
        and rows.device.type == "cpu"
        and torch.is_grad_enabled()
        and torch.is_autocast_enabled("cpu")
        and library() is not None
    )


def is_plain(module: nn.Module, kind: type[nn.Module]) -> bool:
    """Whether calling it does nothing but what its class defines: no parametrization, no hook."""
    return type(module) is kind and not module._forward_hooks and not module._forward_pre_hooks


def draw_dropout(rate: float) -> Dropout:
    """A mask that is computed from two numbers, drawn from torch's generator."""
    if not rate:
        return Dropout(0, 0, 0, 1.0)
    seed = int(torch.randint(1 << 62, ()))
    return Dropout(seed & 0xFFFFFFFF, seed >> 32, round(rate * 2**32), 1 / (1 - rate))


_local = threading.local()


def scratch(name: str, count: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    """Memory that the next call with this name overwrites."""
    buffers = _local.__dict__.setdefault("buffers", {})
    if name not in buffers or buffers[name].numel() < count:
        buffers[name] = torch.empty(count, dtype=dtype)
    return buffers[name]
