"""Masked language modeling next to transformers' Trainer: `python benchmarks/pretraining_speed.py TEXT`. Keep the machine quiet.

A BERT of 6 layers of 256 with 8,000 tokens is trained on sequences of at most 64 tokens of TEXT (see pretraining_text.py), 32 per step, no
dropout. Trainer gets the same sequences, bf16, fused AdamW and its own collator for masking. Each contender is a process; they take turns.
Tokens do not include padding. Appends to results/pretraining_speed.jsonl. `--one-thread` counts the processor time of one thread each.
"""

import argparse
import os
import sys
from pathlib import Path

import torch
from pretraining_speed_child import CONTENDERS, FFN, HIDDEN, LAYERS, RATE, VOCABULARY
from records import append, circumstances
from training import WARM_UP_STEPS, Contender, compare, peak_flops

from niwaki.train.precision import resolve_precision

TREE = Path(__file__).resolve().parent.parent


def flops_per_token() -> float:
    """Operations of all matrix products per token, forward and backward; logits are needed for predicted tokens alone."""
    layers = LAYERS * (4 * HIDDEN * HIDDEN + 2 * HIDDEN * FFN)
    return 6 * (layers + RATE * (HIDDEN * HIDDEN + HIDDEN * VOCABULARY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--laps", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--no-record", action="store_true", help="append nothing to the results")
    parser.add_argument("--one-thread", action="store_true", help="one thread each, processor time")
    given = parser.parse_args()
    if given.one_thread and torch.get_num_threads() > 1:  # started again, as torch reads this once
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_NUM_THREADS": "1"})
    text, script = given.text.resolve(), "pretraining_speed_child.py"
    contenders = {name: Contender(TREE, name, text, script=script) for name in CONTENDERS}
    for one in contenders.values():
        one.run(WARM_UP_STEPS)
    peaks = []
    for lap in range(given.laps):
        peaks.append(peak_flops(resolve_precision("auto")))
        for one in contenders.values():
            one.lap(given.steps)
        rates = ", ".join(f"{name} {one.rates[-1]:.0f}" for name, one in contenders.items())
        print(f"lap {lap + 1}: {rates} tokens/s", flush=True)
    for one in contenders.values():
        one.end()
    ratio = compare(contenders["niwaki"], contenders["trainer"])
    share = contenders["niwaki"].rate * flops_per_token() / max(peaks)
    record = {
        "contenders": {name: one.record() for name, one in contenders.items()},
        "ratios": {"niwaki / trainer": ratio},
        "share_of_peak": share,
        "peak_gflops": max(peaks) / 1e9,
        "precision": resolve_precision("auto"),
        "steps": given.steps,
        "threads": torch.get_num_threads(),
    }
    print(
        f"niwaki / trainer: {ratio['ratio']:.2f}, by lap {min(ratio['ratios']):.2f} to {max(ratio['ratios']):.2f}; {share:.0%} of the peak"
    )
    if not given.no_record:
        append("pretraining_speed", {**record, **circumstances()})


if __name__ == "__main__":
    main()
