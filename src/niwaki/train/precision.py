"""Which number format to train in: bf16 only where the silicon multiplies it, decided by asking, not by hoping."""

import contextlib
from typing import Literal

import torch

Precision = Literal["auto", "bf16", "fp32"]


def resolve(wanted: Precision) -> str:
    """`bf16` or `fp32`. The answer is part of a stage's key, so it depends on the machine alone, not on a measurement."""
    if wanted == "auto":
        return "bf16" if has_bf16() else "fp32"
    return wanted


def has_bf16() -> bool:
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


def autocast(precision: str, device: torch.device) -> contextlib.AbstractContextManager:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")
