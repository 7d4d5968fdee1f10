"""Compares the native engine's matrix products with the limit of the processor: `python benchmarks/products.py`. Uses one core; keep the rest idle.

The limit is measured too: the same instruction on registers alone, compiled here, so it needs gcc. Appends to results/products.jsonl.
"""

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from records import append, circumstances

from niwaki.engines.native import library as c

SIZES = ((48, 384, 384), (48, 1536, 384), (48, 384, 1536), (240, 1536, 384))  # rows, outputs, inputs
SECONDS, REPEATS = 0.2, 5
LIMIT = """
/* sums in registers, each added to in turn: as a product has them, with nothing to load */
void limit(long times) {
    SHAPES
    while (times--) __asm__ volatile(INSTRUCTIONS ::: CLOBBERED);
}
"""
TILES = """
    struct { unsigned char palette, rest[15]; unsigned short bytes[16]; unsigned char rows[16]; } shapes = {.palette = 1};
    for (int i = 0; i < 8; i++) shapes.bytes[i] = 64, shapes.rows[i] = 16;
    __asm__ volatile("ldtilecfg %0" :: "m"(shapes));
"""


def best_seconds(run: Callable[[], object]) -> float:
    """The minimum of several runs in CPU seconds of this process."""
    run()
    found = []
    for _ in range(REPEATS):
        start, times = time.process_time(), 0
        while time.process_time() - start < SECONDS:
            run()
            times += 1
        found.append((time.process_time() - start) / times)
    return min(found)


def limit(name: str) -> float:
    """Billions of operations per second of the kernels' instruction on registers."""
    if name == "amx":  # c.kernels("amx") has requested the tile state from the system
        sums, shapes, clobbered, each = range(4), TILES, '"memory"', 2 * 16 * 64 * 16
        lines = "".join(f'"tdpbusd %%tmm7, %%tmm6, %%tmm{one}\\n"' for one in sums)
    else:
        sums, shapes, each = range(8, 32), "", 2 * 64
        clobbered = ", ".join(f'"zmm{one}"' for one in sums)
        lines = "".join(f'"vpdpbusd %%zmm1, %%zmm0, %%zmm{one}\\n"' for one in sums)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "limit.c", Path(folder) / "limit.so"
        source.write_text(
            LIMIT.replace("SHAPES", shapes).replace("INSTRUCTIONS", lines).replace("CLOBBERED", clobbered)
        )
        subprocess.run(["gcc", "-O2", "-mavx512f", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        run = ctypes.CDLL(str(library)).limit
        times = 1_000_000
        return each * len(sums) * times / best_seconds(lambda: run(ctypes.c_long(times))) / 1e9


def product(name: str, rows: int, outputs: int, inputs: int, whole: bool) -> float:
    """The same for a matrix product, including the quantization of inputs."""
    kernels, draw = c.kernels(name), np.random.default_rng(0)
    assert kernels is not None
    weight = (
        draw.integers(-127, 128, (outputs, inputs)).astype(np.int8)
        if whole
        else draw.normal(size=(outputs, inputs)).astype(np.float32)
    )
    panels = c.aligned(kernels.panel_bytes(outputs, inputs, whole), np.uint8)
    kernels.pack(weight.ctypes.data, outputs, inputs, whole, panels.ctypes.data)
    ones = c.aligned(outputs, np.float32)
    ones[:] = 1
    matrix = c.Matrix(inputs, outputs, whole, panels.ctypes.data, *[ones.ctypes.data] * 3)
    given, to, scratch = (
        draw.normal(size=(rows, inputs)).astype(np.float32),
        c.aligned(rows * outputs, np.float32),
        c.aligned(rows * inputs * 2 + 4096, np.uint8),
    )
    seconds = best_seconds(
        lambda: kernels.product(given.ctypes.data, rows, matrix, None, 0, to.ctypes.data, scratch.ctypes.data)
    )
    return 2 * rows * outputs * inputs / seconds / 1e9


if __name__ == "__main__":
    measured = []
    for name in c.FAST:
        for whole in (True, False):
            for size in SIZES if c.kernels(name) else ():
                measured.append({"kernels": name, "whole": whole, "size": size, "gops": product(name, *size, whole)})
                print(measured[-1], flush=True)
    limits = {name: limit(name) for name in ("amx", "avx512") if c.kernels(name)}
    print("limits", limits)
    append("products", {"products": measured, "limits": limits, **circumstances()})
