"""Renders the page on the speed of cheaper attention."""

import records
from results_page import Page, Record, Records, Section

PLAIN = "attention"
PRECISIONS = ("int8", "float")


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


def native(rows: Records) -> str:
    newest = rows[-1]
    times, memory = newest["seconds"], newest["bytes"]
    return "\n".join(
        [
            f"Command: `python benchmarks/native_windows.py {newest['laps']}`. A BERT of MiniLM's size (6 layers, hidden size 384, random weights) in the native engine (kernels `{newest['kernels']}`), one thread, one text a call; windows of {newest['window']} tokens on each side and one global token in all layers. Processor time, median of {newest['laps']} interleaved laps; "
            "in brackets how many times faster than plain attention. Memory is the kernels' scratch memory.",
            "",
            "| tokens | attention, int8 | windows, int8 | attention, float | windows, float | memory, windows, int8 |",
            "|---|---|---|---|---|---|",
            *(
                f"| {int(length):,} | {' | '.join(both(times, precision, length) for precision in PRECISIONS)} | {memory['window int8'][length] / 1e6:.1f} MB |"
                for length in times["window int8"]
            ),
            "",
            *(f"- {name}: time for 4,096 tokens ÷ time for 512: {growth(newest, name):.1f}." for name in times),
        ]
    )


def both(times: Record, precision: str, length: str) -> str:
    plain, near = times[f"{PLAIN} {precision}"][length], times[f"window {precision}"][length]
    return f"{1000 * plain:.1f} ms | {1000 * near:.1f} ms ({plain / near:.2f}×)"


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
    rows, own = records.read("mixers"), records.read("native_windows")
    found = []
    if own:
        times = own[-1]["seconds"]
        faster = times["attention int8"]["4096"] / times["window int8"]["4096"]
        found.append(
            f"At 4,096 tokens windows of 64 are {faster:.1f}× as fast as plain attention in the native engine, int8."
        )
    if rows:
        times = rows[-1]["seconds"]
        windows, fourier = (times[PLAIN]["4096"] / times[name]["4096"] for name in ("window 64", "fourier"))
        found.append(
            f"In ONNX Runtime they are {windows:.1f}× as fast, and Fourier mixing in all layers {fourier:.1f}×."
        )
    return " ".join(found)


SECTIONS = [
    Section(name, title, render)
    for name, title, render in (
        ("native_windows", "Windows in the native engine", native),
        ("mixers", "Time by length in ONNX Runtime", table),
    )
    if records.read(name)
]
if SECTIONS:
    PAGE = Page("mixers", "Cheaper attention", "Speed", headline, tuple(SECTIONS))
