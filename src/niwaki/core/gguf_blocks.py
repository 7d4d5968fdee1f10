"""Tensors of GGUF files as floats: plain numbers, or blocks of low-bit codes with their scales (llama.cpp's formats).

Q4_0, Q4_1, Q8_0   32 numbers, one scale (and a minimum)
Q4_K, Q6_K         256 numbers: 8 groups of 32 with 6-bit scales and minima, or 16 groups of 16 with 8-bit scales
"""

import numpy as np
from numpy.typing import NDArray

from niwaki.core.gguf_file import GgufTensor

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


def floats_of(tensor: GgufTensor, data: memoryview) -> Floats:
    """The numbers of a tensor, in its shape."""
    raw = np.frombuffer(data[tensor.first : tensor.last], dtype=np.uint8)
    if tensor.kind.numbers == 1:
        return _plain(raw, tensor.kind.name).reshape(tensor.shape)
    blocks = raw.reshape(-1, tensor.kind.size)
    return _UNPACK[tensor.kind.name](blocks).astype(np.float32).reshape(tensor.shape)


def _plain(raw: Bytes, name: str) -> Floats:
    if name == "BF16":  # the first half of a float
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    return raw.view({"F32": "<f4", "F16": "<f2"}[name]).astype(np.float32)


def _half(blocks: Bytes, first: int) -> Floats:
    """The 16-bit float at a place of each block: (blocks, 1)."""
    return np.ascontiguousarray(blocks[:, first : first + 2]).view("<f2").astype(np.float32)


def _nibbles(codes: Bytes) -> Bytes:
    """The low halves of some bytes, then the high ones, along the last axis."""
    return np.concatenate([codes & 15, codes >> 4], axis=-1)


def _q4_0(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * (_nibbles(blocks[:, 2:]).astype(np.float32) - 8)


def _q4_1(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * _nibbles(blocks[:, 4:]) + _half(blocks, 2)


def _q8_0(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * blocks[:, 2:].view(np.int8)


def _q4_k(blocks: Bytes) -> Floats:
    scales, minima = six_bits(blocks[:, 4:16])
    codes = _nibbles(blocks[:, 16:].reshape(-1, 4, 32)).reshape(-1, 8, 32)
    return (_half(blocks, 0) * scales)[..., None] * codes - (_half(blocks, 2) * minima)[..., None]


def six_bits(packed: Bytes) -> tuple[Bytes, Bytes]:
    """(blocks, 12) to 8 scales and 8 minima of 6 bits. The first four lie in the low bits of bytes 0 to 7; of the others, four bits lie in
    bytes 8 to 11, and two in the high bits of the first eight."""
    low, high, rest = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([low & 63, (rest & 15) | (low >> 6) << 4], axis=1)
    minima = np.concatenate([high & 63, (rest >> 4) | (high >> 6) << 4], axis=1)
    return scales, minima


def _q6_k(blocks: Bytes) -> Floats:
    low = _nibbles(blocks[:, :128].reshape(-1, 2, 64)).reshape(-1, 2, 4, 32)  # halves of the block, quarters of a half
    pairs = blocks[:, 128:192].reshape(-1, 2, 1, 32) >> np.arange(0, 8, 2, dtype=np.uint8)[:, None] & 3
    codes = (low | pairs << 4).astype(np.float32) - 32
    scales = blocks[:, 192:208].view(np.int8).astype(np.float32) * _half(blocks, 208)  # of 16 numbers each
    return codes.reshape(-1, 16, 16) * scales[..., None]


_UNPACK = {"Q4_0": _q4_0, "Q4_1": _q4_1, "Q8_0": _q8_0, "Q4_K": _q4_k, "Q6_K": _q6_k}
