"""Renders the page on compressing finished models."""

import records
from results_page import Page, Record, Records, Section


def compressing(rows: Records) -> str:
    """The newest record of each model."""
    return "\n\n".join(one_model(row) for row in newest(rows))


def newest(rows: Records) -> Records:
    return list({row["name"]: row for row in rows}.values())


def one_model(row: Record) -> str:
    reloaded = row["reloaded"]
    lines = [line(one, row["result"]["chosen"]) for one in row["result"]["candidates"]]
    return "\n".join(
        [
            f"Command: `python benchmarks/compress.py MODEL ROWS`. {row['name']}, saved with transformers' `save_pretrained`, compressed with "
            f"`niwaki compress MODEL --data ROWS` in {row['seconds']:.0f} s, from the start of the process to its end (target: under "
            f"{row['target_seconds']} s). Loaded again, the saved model scores {reloaded['value']:.4f} ({reloaded['low']:.4f} to "
            f"{reloaded['high']:.4f}) on the {reloaded['rows']} test rows in the {row['engine']} engine.",
            "",
            "| candidate | validation | share of the source's (95 % interval) | test | MB | latency, ms | faster than transformers | |",
            "|---|---|---|---|---|---|---|---|",
            *lines,
        ]
    )


def line(one: Record, chosen: str) -> str:
    share = f"{one['kept']:.1%} ({one['kept_low']:.1%} to {one['kept_high']:.1%})"
    note = "saved" if one["name"] == chosen else ""
    return (
        f"| {one['name']} | {one['score']:.4f} | {share} | {one['test_score']:.4f} | {one['bytes'] / 1e6:.1f} | "
        f"{one['latency_ms']:.1f} | {one['faster']:.1f}× | {note} |"
    )


def headline() -> str:
    rows = newest(records.read("compress"))
    row = rows[-1]["result"]
    return (
        f"A fine-tuned model, one command, {rows[-1]['seconds']:.0f} s: {row['smaller']:.1f}× smaller and {row['faster']:.1f}× faster than in "
        f"transformers, with {row['kept']:.1%} of its {row['metric']}."
    )


PAGE = Page(
    "compress",
    "Compressing a finished model",
    "Compression",
    headline,
    (Section("compress", "One command on a fine-tuned model", compressing),),
)
