"""What the processor at hand can do."""

import torch


def has_bf16() -> bool:
    """Whether what trains here multiplies bf16 itself."""
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return processor_has_bf16()


def processor_has_bf16() -> bool:
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
