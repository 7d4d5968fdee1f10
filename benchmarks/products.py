"""How near the native engine's products come to what the processor can do: `python benchmarks/products.py`. On one core; keep the rest quiet.

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
/* 24 sums in registers, each added to in turn: as a tile has them, with nothing to load */
__attribute__((target("avx512f,avx512vnni"))) void limit(long times) {
    while (times--) __asm__ volatile(INSTRUCTIONS ::: SUMS);
}
"""


def best_seconds(run: Callable[[], object]) -> float:
    """Of several times, in the processor's seconds of this process; others are then not counted, but for the caches."""
    run()
    found = []
    for _ in range(REPEATS):
        start, times = time.process_time(), 0
        while time.process_time() - start < SECONDS:
            run()
            times += 1
        found.append((time.process_time() - start) / times)
    return min(found)


def limit() -> float:
    """Billions of operations a second of vpdpbusd on registers."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "limit.c", Path(folder) / "limit.so"
        sums = range(8, 32)
        lines = "".join(f'"vpdpbusd %%zmm1, %%zmm0, %%zmm{one}\\n"' for one in sums)
        named = ", ".join(f'"zmm{one}"' for one in sums)
        source.write_text(LIMIT.replace("INSTRUCTIONS", lines).replace("SUMS", named))
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(made)], check=True)
        run = ctypes.CDLL(str(made)).limit
        times = 1_000_000
        return 2 * 64 * len(sums) * times / best_seconds(lambda: run(ctypes.c_long(times))) / 1e9


def product(name: str, rows: int, outputs: int, inputs: int, whole: bool) -> float:
    """The same of a product with a matrix, rounding of the inputs counted."""
    kernels, draw = c.kernels(name), np.random.default_rng(0)
    assert kernels is not None
    weight = draw.integers(-127, 128, (outputs, inputs)).astype(np.int8) if whole else draw.normal(size=(outputs, inputs)).astype(np.float32)  # fmt: skip
    panels = c.aligned(kernels.panel_bytes(outputs, inputs, whole), np.uint8)
    kernels.pack(weight.ctypes.data, outputs, inputs, whole, panels.ctypes.data)
    ones = c.aligned(outputs, np.float32)
    ones[:] = 1
    matrix = c.Matrix(inputs, outputs, whole, panels.ctypes.data, *[ones.ctypes.data] * 3)
    given, to, scratch = draw.normal(size=(rows, inputs)).astype(np.float32), c.aligned(rows * outputs, np.float32), c.aligned(rows * inputs * 2 + 4096, np.uint8)  # fmt: skip
    seconds = best_seconds(lambda: kernels.product(given.ctypes.data, rows, matrix, None, 0, to.ctypes.data, scratch.ctypes.data))  # fmt: skip
    return 2 * rows * outputs * inputs / seconds / 1e9


if __name__ == "__main__":
    told = []
    for name in c.FAST:
        for whole in (True, False):
            for size in SIZES if c.kernels(name) else ():
                told.append({"kernels": name, "whole": whole, "size": size, "gops": product(name, *size, whole)})
                print(told[-1], flush=True)
    most = limit() if c.kernels("avx512") else None
    print("limit", most)
    append("products", {"products": told, "limit": most, **circumstances()})
