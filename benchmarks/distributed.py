"""Training in several processes on this machine: `quiet python benchmarks/distributed.py`, and `… --constants` for the cost model.

Fine-tunes the bundled MiniLM on the bundled reviews, all parameters, batches of 32. The contenders have the same cores: one process with all
threads, the same with micro-shards, and one process with one thread per core. They take turns. Also: one process on one core. Tokens do not
include padding; `exchange_seconds` is the time in which processes exchange gradients, waiting for each other included.

`--constants` measures, with all threads, what the cost model (`cost_model.py`) needs: tokens per second of a BERT-base teacher and of a training
step of a student with half its layers, both with random weights, on sentences as long as the reviews; and bytes per second of the exchange.
Appends to results/distributed.jsonl and results/distributed_constants.jsonl.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from records import append, circumstances

HERE = Path(__file__).resolve().parent
LAPS = 2


def contenders(cores: int) -> dict[str, tuple[int, int, int]]:
    """Processes, threads of each, micro-shards."""
    return {
        "one process, one core": (1, 1, 1),
        "one process, all cores": (1, cores, 1),
        f"the same, {cores} micro-shards": (1, cores, cores),
        f"{cores} processes, one core each": (cores, 1, cores),
    }


def run(what: str, processes: int, threads: int, micro_shards: int) -> dict[str, Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    children = []
    for rank in range(processes):
        group = {
            "RANK": rank,
            "LOCAL_RANK": rank,
            "WORLD_SIZE": processes,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
        }
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "PYTHONPATH": HERE.parent / "src"} | (
            group if processes > 1 else {}
        )
        command = [sys.executable, HERE / "distributed_child.py", what, str(micro_shards)]
        children.append(
            subprocess.Popen(
                command, env={k: str(v) for k, v in environment.items()}, stdout=subprocess.PIPE, text=True
            )
        )
    outputs = [child.communicate()[0] for child in children]
    assert not any(child.returncode for child in children)
    return json.loads(outputs[0].splitlines()[-1])


def speeds() -> dict[str, Any]:
    named = contenders(os.cpu_count() or 1)
    laps: dict[str, list[dict[str, Any]]] = {name: [] for name in named}
    for _ in range(LAPS):
        for name, how in named.items():
            laps[name].append(run("train", *how))
            print(name, laps[name][-1], file=sys.stderr)
    return {
        "contenders": {
            name: {
                "processes": named[name][0],
                "threads": named[name][1],
                "micro_shards": named[name][2],
                "laps": found,
            }
            | {key: statistics.median(lap[key] for lap in found) for key in found[0]}
            for name, found in laps.items()
        }
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--constants", action="store_true")
    if parser.parse_args().constants:
        cores = os.cpu_count() or 1
        found = run("constants", 1, cores, 1) | run("exchange", 2, 1, 2)
        append("distributed_constants", {**found, "cores": cores, **circumstances()})
    else:
        append("distributed", {**speeds(), **circumstances()})


if __name__ == "__main__":
    main()
