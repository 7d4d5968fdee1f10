"""What training in several processes costs: `python benchmarks/distributed.py`, and `… --constants` for the cost model.

Fine-tunes the bundled MiniLM on the bundled reviews, all parameters, batches of 32, one thread in each process. The contenders take turns. Seconds
are those of the processor, of all processes, so that the figures hold on a machine that others use too; how long processes wait for each other is not
in them. Tokens do not include padding.

`--constants` measures what the cost model (`cost_model.py`) needs, for one core: tokens per second of a BERT-base teacher and of a training step of a
student with half its layers, both with random weights, on sentences as long as the reviews; and bytes that a process exchanges in a second of its
processor time. Appends to results/distributed.jsonl and results/distributed_constants.jsonl.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from records import append, circumstances

HERE = Path(__file__).resolve().parent
LAPS = 2
CONTENDERS = {  # processes and micro-shards
    "one process": (1, 1),
    "one process, two micro-shards": (1, 2),
    "two processes, two micro-shards": (2, 2),
}


def run(what: str, processes: int, micro_shards: int) -> list[dict[str, Any]]:
    """What each process measured."""
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
        environment = {**os.environ, "OMP_NUM_THREADS": 1, "PYTHONPATH": HERE.parent / "src"} | (
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
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def lap(processes: int, micro_shards: int) -> dict[str, Any]:
    found = run("train", processes, micro_shards)
    cpu_seconds = sum(one["cpu_seconds"] for one in found)
    return {
        "rate": found[0]["tokens"] / cpu_seconds,
        "exchange_share": sum(one["exchange_cpu_seconds"] for one in found) / cpu_seconds,
        "memory_mb": max(one["memory_mb"] for one in found),
        "parameters": found[0]["parameters"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--constants", action="store_true")
    if parser.parse_args().constants:
        append("distributed_constants", {**run("constants", 1, 1)[0], **run("exchange", 2, 2)[0], **circumstances()})
        return
    laps: dict[str, list[dict[str, Any]]] = {name: [] for name in CONTENDERS}
    for _ in range(LAPS):
        for name, how in CONTENDERS.items():
            laps[name].append(lap(*how))
            print(name, laps[name][-1], file=sys.stderr)
    append("distributed", {"contenders": laps, **circumstances()})


if __name__ == "__main__":
    main()
