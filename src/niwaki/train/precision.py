"""The number format to train in: bf16 only where the CPU or GPU has instructions for it."""

import contextlib
from typing import Literal

import torch

from niwaki.models.cpu_features import has_bf16
from niwaki.models.fused.library import library

Precision = Literal["auto", "bf16", "fp32"]


def resolve_precision(wanted: Precision) -> str:
    """`bf16` or `fp32`. It is part of a stage's key, so it depends on the hardware and not on a measurement."""
    if wanted == "auto":
        return "bf16" if has_bf16() else "fp32"
    return wanted


def arithmetic(precision: str) -> str:
    """What decides the last bits of a training: the number format and, for bf16, whether the compiled kernels compute it."""
    return "bf16, compiled kernels" if precision == "bf16" and library() is not None else precision


def autocast(precision: str, device: torch.device) -> contextlib.AbstractContextManager:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")
