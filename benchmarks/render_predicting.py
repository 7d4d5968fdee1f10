"""Renders the page on prediction: large files, tokenization and batch sizes."""

import records
from results_page import Page, Record, Records, Section


def stream(rows: list[Record]) -> str:
    lines = [
        f"| {one['inputs']:,} | {one['bytes'] / 1e6:.0f} | {one['cpu_seconds']:.1f} | {one['peak_mb']:.0f} | "
        + (f"after {one['killed_after']:,}: identical file |" if one.get("same_file") else " |")
        for one in rows[-1]["sizes"]
    ]
    head = ["| sentences | MB read | CPU seconds | peak MB | killed and resumed |", "|---|---|---|---|---|"]
    return "\n".join(
        [
            f"Command: `python benchmarks/stream.py MODEL`. `niwaki predict MODEL --in FILE --out FILE` with a {rows[-1]['model']} model on {rows[-1]['cores']} core, generated sentences of 3 to 40 words.",
            "",
            *head,
            *lines,
        ]
    )


def tokens(rows: list[Record]) -> str:
    row = rows[-1]
    kinds = ", ".join(f"{name} {count:,}" for name, count in row["kinds"].items())
    times = {name: f"{value:.1f}" for name, value in row["microseconds"].items()}
    return (
        f"Command: `python benchmarks/tokenizer_parity.py MODEL`. {row['texts']:,} generated texts ({kinds}) in `Predictor.tokenize` and transformers' {row['tokenizer']}: {row['different']} differ.\n\n"
        f"CPU time per sentence of the bundled reviews, median of interleaved laps: niwaki {times['niwaki']} µs, tokenizers library {times['library']} µs; one text at a time "
        f"{times['niwaki alone']} and {times['library alone']} µs."
    )


def batches(rows: Records) -> str:
    lines = [
        f"| {name} | {entry['throughput']['value']:.0f} | {entry['ratio']['value']:.2f} ({entry['ratio']['low']:.2f} to {entry['ratio']['high']:.2f}) |"
        for name, entry in rows[-1]["settings"].items()
    ]
    head = ["| batches | texts/s | ratio to the default (95 % interval) |", "|---|---|---|"]
    return "\n".join(
        ["Command: `python benchmarks/batches.py MODEL`, with the int8 model of the demo.", "", *head, *lines]
    )


def headline() -> str:
    largest = max(records.read("stream")[-1]["sizes"], key=lambda one: one["inputs"])
    return f"{largest['inputs']:,} sentences are predicted in {largest['cpu_seconds']:.0f} CPU seconds with at most {largest['peak_mb']:.0f} MB of memory."


PAGE = Page(
    "predicting",
    "Prediction",
    "Speed",
    headline,
    (
        Section("stream", "Files of any size", stream),
        Section("tokens", "Tokenization parity", tokens),
        Section("batches", "Batch sizes of the predictor", batches),
    ),
)
