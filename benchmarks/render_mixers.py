"""Renders the page on the speed of cheaper attention."""

import records
from results_page import Page, Record, Records, Section

PLAIN = "attention"


def table(rows: Records) -> str:
    newest = rows[-1]
    times = newest["seconds"]
    lengths = [*times[PLAIN]]
    others = [name for name in times if name != PLAIN]
    return "\n".join(
        [
            f"Command: `python benchmarks/mixers.py {newest['laps']}`. A BERT of 6 layers with a hidden size of 384 and random weights in ONNX Runtime, fp32, one thread. Processor time of one text, median of {newest['laps']} interleaved laps; "
            "in brackets how many times faster than plain attention.",
            "",
            f"| tokens | {PLAIN} | {' | '.join(others)} |",
            f"|---|---|{'---|' * len(others)}",
            *(
                f"| {int(length):,} | {1000 * times[PLAIN][length]:.1f} ms | {' | '.join(cell(newest, name, length) for name in others)} |"
                for length in lengths
            ),
            "",
            *(
                f"- {name}: {break_even(newest, name)}. Time for 4,096 tokens ÷ time for 512: {growth(newest, name):.1f}."
                for name in times
            ),
        ]
    )


def cell(row: Record, name: str, length: str) -> str:
    times = row["seconds"]
    return f"{1000 * times[name][length]:.1f} ms ({times[PLAIN][length] / times[name][length]:.2f}×)"


def break_even(row: Record, name: str) -> str:
    times = row["seconds"]
    faster = [int(length) for length in times[PLAIN] if times[name][length] < times[PLAIN][length]]
    if name == PLAIN:
        return "the reference"
    return f"faster from {min(faster):,} tokens on" if faster else "not faster at any of these lengths"


def growth(row: Record, name: str) -> float:
    times = row["seconds"][name]
    return times["4096"] / times["512"]


def headline() -> str:
    rows = records.read("mixers")
    times = rows[-1]["seconds"]
    return f"At 4,096 tokens windows of 64 are {times[PLAIN]['4096'] / times['window 64']['4096']:.1f}× as fast as plain attention in ONNX Runtime, and Fourier mixing in all layers {times[PLAIN]['4096'] / times['fourier']['4096']:.1f}×."


if records.read("mixers"):
    PAGE = Page("mixers", "Cheaper attention", "Speed", headline, (Section("mixers", "Time by length", table),))
