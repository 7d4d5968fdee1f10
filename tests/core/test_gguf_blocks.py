"""Blocks of low-bit codes as floats, by hand."""

import struct

import numpy as np
import pytest

from niwaki.core.gguf_blocks import floats_of, six_bits
from niwaki.core.gguf_file import TYPES, GgufTensor

KINDS = {kind.name: kind for kind in TYPES.values()}
SCALE, MINIMUM = struct.pack("<e", 0.5), struct.pack("<e", -2.0)
CODES = bytes(low | (15 - low) << 4 for low in range(16))  # numbers 0 to 15, then 15 to 0
RISING = np.concatenate([np.arange(16), np.arange(15, -1, -1)]).astype(np.float32)


def floats(name, data, shape):
    return floats_of(GgufTensor(shape, KINDS[name], 0, len(data)), memoryview(data))


def test_plain_numbers():
    values = np.array([[1.5, -2.0, 0.25]], np.float32)
    assert np.array_equal(floats("F32", values.tobytes(), (1, 3)), values)
    assert np.array_equal(floats("F16", values.astype("<f2").tobytes(), (1, 3)), values)
    upper = values.view("<u4") >> 16
    assert np.array_equal(floats("BF16", upper.astype("<u2").tobytes(), (1, 3)), values)


def test_blocks_of_32():
    assert np.array_equal(floats("Q4_0", SCALE + CODES, (1, 32))[0], 0.5 * (RISING - 8))
    assert np.array_equal(floats("Q4_1", SCALE + MINIMUM + CODES, (1, 32))[0], 0.5 * RISING - 2)
    codes = np.arange(-16, 16, dtype=np.int8)
    assert np.array_equal(floats("Q8_0", SCALE + codes.tobytes(), (1, 32))[0], 0.5 * codes)


def six_bit_bytes(scales, minima):
    """As llama.cpp packs them."""
    packed = [scale | (more >> 4) << 6 for scale, more in zip(scales[:4], scales[4:], strict=True)]
    packed += [least | (more >> 4) << 6 for least, more in zip(minima[:4], minima[4:], strict=True)]
    packed += [scale & 15 | (least & 15) << 4 for scale, least in zip(scales[4:], minima[4:], strict=True)]
    return bytes(packed)


def test_six_bits_are_unpacked():
    scales, minima = [63, 1, 2, 33, 17, 62, 5, 48], [0, 63, 31, 9, 40, 7, 63, 16]
    found = six_bits(np.frombuffer(six_bit_bytes(scales, minima), np.uint8)[None])
    assert [one.tolist() for one in found] == [[scales], [minima]]


def test_blocks_of_256_with_scales_and_minima():
    scales, minima = [1, 2, 3, 4, 20, 30, 40, 50], [8, 7, 6, 5, 40, 30, 20, 10]
    data = SCALE + struct.pack("<e", 0.25) + six_bit_bytes(scales, minima) + (CODES + CODES) * 4
    found = floats("Q4_K", data, (1, 256)).reshape(8, 32)
    low, high = np.tile(np.arange(16), 2), np.tile(np.arange(15, -1, -1), 2)
    for group, (scale, least) in enumerate(zip(scales, minima, strict=True)):
        codes = high if group % 2 else low
        assert np.array_equal(found[group], 0.5 * scale * codes - 0.25 * least), group


def test_blocks_of_256_with_six_bits():
    codes = np.random.default_rng(0).integers(0, 64, 256)
    scales = np.arange(-8, 8, dtype=np.int8)
    low, high = np.zeros(128, np.uint8), np.zeros(64, np.uint8)
    for place, code in enumerate(codes):  # as the format's table says
        half, inner = divmod(place, 128)
        quarter, column = divmod(inner, 32)
        low[half * 64 + quarter % 2 * 32 + column] |= (code & 15) << 4 * (quarter // 2)
        high[half * 32 + column] |= (code >> 4) << 2 * quarter
    data = low.tobytes() + high.tobytes() + scales.tobytes() + SCALE
    found = floats("Q6_K", data, (1, 256))[0]
    assert np.array_equal(found, 0.5 * np.repeat(scales, 16).astype(np.float32) * (codes - 32))


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K", "BF16", "F16"])
def test_every_type_equals_the_gguf_package(name):
    """Where it is installed; it is no dependency."""
    quants = pytest.importorskip("gguf.quants")
    kind = KINDS[name]
    number = next(number for number, one in TYPES.items() if one is kind)
    rows = np.random.default_rng(1).integers(
        0, 60, (4, 8 * kind.size), dtype=np.uint8
    )  # small enough for finite scales
    wanted = quants.dequantize(rows, quants.GGMLQuantizationType(number))
    assert np.array_equal(floats(name, rows.tobytes(), wanted.shape), wanted)
