"""Checks the native engine on random shapes: `python benchmarks/native_shapes.py [shapes] [histories] [first seed]`.

Every shape (tests/engines/native/shapes.py) runs with every set of kernels that this processor supports or that is emulated. A call
history is a call with random texts, threads and exits after all previous calls, on scratch memory that contains their leftovers, NaN,
0xFF or 3.4e38. Logits must be bit-identical to those of each text alone and close to torch. Appends a record to
results/native_shapes.jsonl.
"""

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import torch
from records import append, circumstances

from engines.native.contract import FARTHEST, NEAR, judge, too_far
from niwaki.engines.native import library as c

PROGRESS_EVERY = 50  # shapes


def main(shapes: int, histories: int, first: int) -> None:
    torch.set_num_threads(1)
    record = measure(range(first, first + shapes), histories)
    append("native_shapes", {**record, **circumstances()})
    print({key: value for key, value in record.items() if key != "faults"}, *record["faults"], sep="\n")
    sys.exit(1 if record["faults"] else 0)


def measure(seeds: range, histories: int) -> dict:
    began, calls, faults = time.monotonic(), 0, []
    kernels = [name for name in c.KERNELS if c.kernels(name)]
    apart: dict[str, list[float]] = {name: [] for name in kernels}
    for seed in seeds:
        for name in kernels:
            verdict = judge(seed, name, histories)
            faults += [f"shape {seed}, {name}: {fault}" for fault in verdict.faults]
            apart[name] += verdict.apart
            calls += verdict.calls
        if (seed - seeds.start + 1) % PROGRESS_EVERY == 0:
            print(
                f"{seed - seeds.start + 1} shapes, {calls} calls, {time.monotonic() - began:.0f} s, {len(faults)} faults",
                flush=True,
            )
    faults += [f"{name}: {sentence}" for name, found in apart.items() if (sentence := too_far(found))]
    distances = np.concatenate(list(apart.values()))
    return {
        "shapes": len(seeds),
        "first_seed": seeds.start,
        "histories": histories,
        "kernels": kernels,
        "not_run_here": [name for name in c.KERNELS if name not in kernels],
        "calls": calls,
        "faults": faults,
        "near": NEAR,
        "farthest_allowed": FARTHEST,
        "far_share": float((distances > NEAR).mean()),
        "farthest": float(distances.max()),
        "seconds": time.monotonic() - began,
    }


if __name__ == "__main__":
    given = [int(value) for value in sys.argv[1:]]
    main(*(given + [1000, 50, 0][len(given) :]))
