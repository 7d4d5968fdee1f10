"""Measures time and memory of tokenizing training data: `python benchmarks/features.py DATA`. Appends to results/features.jsonl.

There are two measurements, `speed` and `memory`; naming one after DATA runs only that one (speed needs an idle machine). `speed` tokenizes
the SST-2 training sentences of DATA (a folder of tasks) repeatedly. `memory` reads, splits and encodes a jsonl file of 1 GB of such
sentences in a child process and records its anonymous memory.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from records import append, circumstances
from tokenizers import Tokenizer

from niwaki.data.embedded import find_model
from niwaki.tasks.classification import Classification
from niwaki.tasks.glue.sst2 import Sst2

REPEATS, SIZES = 7, (80 * 10**6, 320 * 10**6, 10**9)


def tokenizer() -> Tokenizer:
    folder = find_model("minilm")
    assert folder is not None, "needs the embedded model"
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def speed(data: str) -> dict[str, Any]:
    """Sentences per second, from rows to features with targets."""
    task, own = Sst2(path=data), tokenizer()
    rows = task.splits()["train"]
    rates = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        task.features(rows, own)
        rates.append(rows.num_rows / (time.perf_counter() - start))
    return {"rows": rows.num_rows, "per_second": rates}


def write_large(data: str, path: Path, size: int) -> int:
    """Writes repeated training sentences, made unique by a number; returns the number of rows."""
    rows = Sst2(path=data).splits()["train"]
    pairs = list(zip(rows.column("text").to_pylist(), rows.column("label").to_pylist(), strict=True))
    count = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            block = [
                json.dumps({"text": f"{text} {count + k}", "label": label}) + "\n"
                for k, (text, label) in enumerate(pairs)
            ]
            file.writelines(block)
            count += len(block)
    return count


def large(path: str) -> None:
    """Runs in a child process: reads, splits and encodes all training rows; prints peak anonymous memory and seconds."""
    task, own = Classification(path=path, validation=0.01, test=0.01), tokenizer()
    peaks, done = [anonymous()], threading.Event()
    watcher = threading.Thread(target=lambda: [peaks.append(anonymous()) for _ in iter(lambda: done.wait(0.05), True)])
    watcher.start()
    start, cpu_start = time.perf_counter(), time.process_time()
    splits = task.splits()
    read, cpu_read = time.perf_counter(), time.process_time()
    features = task.features(splits["train"], own)
    end, cpu_end = time.perf_counter(), time.process_time()
    done.set()
    watcher.join()
    record = {
        "before_mb": peaks[0],
        "peak_mb": max(peaks),
        "read_seconds": read - start,
        "encode_seconds": end - read,
        "read_cpu_seconds": cpu_read - cpu_start,
        "encode_cpu_seconds": cpu_end - cpu_read,
    }
    print(json.dumps({**record, "rows": len(features), "tokens": int(features.rows.ids.starts[-1])}))


def anonymous() -> float:
    """Anonymous memory of this process in MB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1000


def measured(data: str, size: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.jsonl"
        write_large(data, path, size)
        done = subprocess.run(
            [sys.executable, __file__, "--large", str(path)], capture_output=True, text=True, check=True
        )
        return {"bytes": path.stat().st_size, **json.loads(done.stdout)}


if __name__ == "__main__":
    if sys.argv[1] == "--large":
        large(sys.argv[2])
    else:
        data, parts = sys.argv[1], sys.argv[2:] or ["speed", "memory"]
        record: dict[str, Any] = {"cores": len(os.sched_getaffinity(0))}
        if "speed" in parts:
            record["speed"] = speed(data)
            print(f"{statistics.median(record['speed']['per_second']):.0f} sentences/s")
        if "memory" in parts:
            record["large"] = [measured(data, size) for size in SIZES]
            print(record["large"])
        append("features", {**record, **circumstances()})
