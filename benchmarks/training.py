"""Training speed next to transformers' Trainer, and next to an older commit: `python benchmarks/training.py`. Keep the machine quiet.

Fine-tunes the bundled MiniLM on the bundled reviews, embeddings frozen, bf16 if supported, batches grouped by length, fused AdamW, with
the same dropout, batch size and texts as Trainer. Distils it into three layers from a cached teacher: from its logits (`logits`), and
from all layers (`tinybert`). `--against TREE` measures the same in another checkout of niwaki that has this file.

Each contender is a process; they take turns for some steps each while the others wait. Tokens do not include padding. The share of the
processor's limit compares the matrix products of forward and backward pass with a measured 2048³ product. Appends to
results/training.jsonl. `--one-thread` gives each contender one thread and counts processor time, for a machine that others use too.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from records import append, circumstances
from training_child import clock, fresh_model

from niwaki.models.model import Model
from niwaki.tasks.rotten_tomatoes import RottenTomatoes
from niwaki.train.precision import resolve_precision

HERE = Path(__file__).resolve().parent
OWN = ("fine-tuning", "logits", "tinybert")
WARM_UP_STEPS = 5


class Contender:
    """A child process that trains one lap per request."""

    def __init__(self, tree: Path, name: str, *arguments: object, script: str = "training_child.py") -> None:
        command = [
            sys.executable,
            str(tree / "benchmarks" / script),
            name,
            *(str(one).lower() if one is None else str(one) for one in arguments),
        ]
        environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        self.laps: list[dict[str, float]] = []

    def run(self, steps: int) -> dict[str, float]:
        assert self.child.stdin is not None and self.child.stdout is not None
        print(steps, file=self.child.stdin, flush=True)
        return json.loads(self.child.stdout.readline())

    def lap(self, steps: int) -> None:
        self.laps.append(self.run(steps))

    def end(self) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait()

    @property
    def rates(self) -> list[float]:
        return [lap["tokens"] / lap["seconds"] for lap in self.laps]

    @property
    def rate(self) -> float:
        return sum(lap["tokens"] for lap in self.laps) / sum(lap["seconds"] for lap in self.laps)

    def record(self) -> dict[str, Any]:
        return {"rate": self.rate, "rates": self.rates, "memory_mb": self.laps[-1]["memory_mb"]}


def compare(one: Contender, other: Contender) -> dict[str, Any]:
    """The ratio of tokens per second over all laps, and of each lap."""
    ratios = [a / b for a, b in zip(one.rates, other.rates, strict=True)]
    return {"ratio": one.rate / other.rate, "median": statistics.median(ratios), "ratios": ratios}


def peak_flops(precision: str) -> float:
    """Operations per second of a large product."""
    a = torch.randn(2048, 2048).to(torch.bfloat16 if precision == "bf16" else torch.float32)
    times = []
    for _ in range(8):
        start = clock()
        a @ a
        times.append(clock() - start)
    return 2 * 2048**3 / min(times)


def flops_per_token(model: Model) -> int:
    """Operations of the layers' matrices per token, forward and backward."""
    layers = model.anatomy.layers
    parts = ("query", "key", "value", "out", "ffn_in", "ffn_out")
    numbers = sum(layers[n].part(part).weight.numel() for n in model.anatomy.order for part in parts)
    return 6 * numbers


def measure(given: argparse.Namespace) -> tuple[dict[str, Contender], float]:
    """Runs the laps of all contenders, and measures the product between laps."""
    tree = HERE.parent
    contenders = {name: Contender(tree, name, given.dropout) for name in given.only}
    if "fine-tuning" in given.only:
        contenders["trainer"] = Contender(tree, "trainer", given.dropout)
    if given.against:
        contenders |= {
            f"{name}, before": Contender(given.against.resolve(), name, given.dropout) for name in given.only
        }
    for one in contenders.values():
        one.run(WARM_UP_STEPS)
    peaks = []
    for lap in range(given.laps):
        peaks.append(peak_flops(resolve_precision("auto")))
        for one in contenders.values():
            one.lap(given.steps)
        print(
            f"lap {lap + 1}: " + ", ".join(f"{name} {one.rates[-1]:.0f}" for name, one in contenders.items()),
            flush=True,
        )
    for one in contenders.values():
        one.end()
    return contenders, max(peaks)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--laps", type=int, default=8)
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--dropout", type=float, default=None, help="default: as the model has it")
    arguments.add_argument("--only", nargs="+", choices=OWN, default=list(OWN))
    arguments.add_argument("--against", type=Path, help="another checkout, measured as well")
    arguments.add_argument("--no-record", action="store_true", help="append nothing to the results")
    arguments.add_argument("--one-thread", action="store_true", help="one thread each, processor time")
    given = arguments.parse_args()
    if given.one_thread and torch.get_num_threads() > 1:  # started again, as torch reads this once
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_NUM_THREADS": "1"})
    precision = resolve_precision("auto")
    contenders, peak = measure(given)
    pairs = {name: "trainer" for name in given.only if name == "fine-tuning"}
    ratios = {f"{one} / {other}": compare(contenders[one], contenders[other]) for one, other in pairs.items()}
    if given.against:
        ratios |= {f"{one} / before": compare(contenders[one], contenders[f"{one}, before"]) for one in given.only}
    record = {
        "contenders": {name: one.record() for name, one in contenders.items()},
        "ratios": ratios,
        "precision": precision,
        "dropout": given.dropout,
        "steps": given.steps,
        "threads": torch.get_num_threads(),
        "peak_gflops": peak / 1e9,
    }
    for name, found in ratios.items():
        print(f"{name}: {found['ratio']:.2f}, by lap {min(found['ratios']):.2f} to {max(found['ratios']):.2f}")
    if "fine-tuning" in contenders:
        record["share_of_peak"] = contenders["fine-tuning"].rate * flops_per_token(fresh_model(RottenTomatoes())) / peak
        print(f"fine-tuning runs at {record['share_of_peak']:.0%} of a {precision} product's {peak / 1e9:.0f} GFLOP/s")
    print("memory, MB: " + ", ".join(f"{name} {one.laps[-1]['memory_mb']:.0f}" for name, one in contenders.items()))
    if not given.no_record:
        append("training", {**record, **circumstances()})


if __name__ == "__main__":
    main()
