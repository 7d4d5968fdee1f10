"""Time and memory of windows in the native engine by length of the text: `python benchmarks/native_windows.py [laps]` (5).

The BERT of `mixers.py` (MiniLM's size: 6 layers, hidden size 384, random weights, 4,096 positions) with plain attention, and with windows of 64 tokens
on each side and one global token in all layers; one thread, one text a call. Laps are interleaved and every lap runs each model once at each
length; a figure is the median over laps. Memory is the scratch memory that the kernels ask for. Appends to results/native_windows.jsonl.
"""

import statistics
import sys
import time

import mixers  # sets environment variables
import numpy as np
from records import append, circumstances

from niwaki.engines.native import library as c
from niwaki.engines.native.network import Network
from niwaki.engines.native.translate import translate
from niwaki.methods.convert.window import Window
from niwaki.models.edits.int8 import Int8
from niwaki.models.ties import unique_tensors

LENGTHS = (128, 256, 512, 1024, 2048, 4096)
WINDOW = 64
MODELS = {
    f"{name} {precision}": (windows, precision)
    for precision in ("int8", "float")
    for name, windows in (("attention", False), ("window", True))
}


def network(windows: bool, precision: str) -> Network:
    model = mixers.encoder()
    model = Window(window=WINDOW).dry_prepare(model) if windows else model
    if precision == "int8":
        model.apply_edit(Int8())
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    return Network(translate(model.network, model.anatomy), tensors, "here")


def seconds(engine: Network, length: int) -> float:
    ids = np.full(length, 7)
    start = time.process_time()
    engine(ids, np.zeros_like(ids), np.array([length]))
    return time.process_time() - start


def scratch_bytes(engine: Network, length: int) -> int:
    lengths = np.array([length], dtype=np.int32)
    batch = c.Batch(1, length, 0, engine.depth, lengths=lengths.ctypes.data)
    return int(engine.kernels.scratch_bytes(engine._model, batch, 1))


def main(laps: int) -> None:
    engines = {name: network(*settings) for name, settings in MODELS.items()}
    found: dict[str, dict[int, list[float]]] = {name: {length: [] for length in LENGTHS} for name in engines}
    for lap in range(laps + 1):  # the first one warms up
        for length in LENGTHS:
            for name, engine in engines.items():
                spent = seconds(engine, length)
                if lap:
                    found[name][length].append(spent)
    medians = {name: {str(n): statistics.median(each) for n, each in by.items()} for name, by in found.items()}
    memory = {name: {str(n): scratch_bytes(engine, n) for n in LENGTHS} for name, engine in engines.items()}
    kernels = next(iter(engines.values())).kernels.name.decode()
    record = {"laps": laps, "window": WINDOW, "kernels": kernels, "seconds": medians, "bytes": memory}
    append("native_windows", {**record, **circumstances()})
    for name, by_length in medians.items():
        print(name, *(f"{length}: {1000 * value:.2f} ms" for length, value in by_length.items()), sep="\t")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
