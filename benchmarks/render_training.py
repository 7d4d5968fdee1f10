"""Renders the section on training speed."""

from typing import Any

import records
from results_page import Page, Section


def section(rows: list[dict[str, Any]]) -> str:
    last = rows[-1]
    lines = [
        f"Command: `python benchmarks/training.py`. MiniLM-L6 fine-tuned on the bundled reviews, embeddings frozen, {last['precision']}, batches of 32 grouped by "
        "length, fused AdamW; and distilled into three layers from a cached teacher. Each contender is a process; they take turns. Tokens do not include padding."
        + (" One thread each, processor time." if last.get("threads") == 1 else ""),
        *_tables(last),
    ]
    if "share_of_peak" in last:
        lines += [
            "",
            f"The matrix products of fine-tuning run at {last['share_of_peak']:.0%} of a 2048³ {last['precision']} product ({last['peak_gflops']:.0f} GFLOP/s).",
        ]
    return "\n".join(lines)


def pretraining(rows: list[dict[str, Any]]) -> str:
    last = rows[-1]
    lines = [
        f"Command: `python benchmarks/pretraining_speed.py TEXT`. Masked language modeling from scratch: a BERT of 6 layers of 256, 8,000 tokens, sequences of at most 64, "
        f"batches of 32, {last['precision']}, fused AdamW, no dropout, the same sequences. Each contender is a process; they take turns. Tokens do not include padding."
        + (" One thread each, processor time." if last.get("threads") == 1 else ""),
        *_tables(last),
        "",
        f"The matrix products run at {last['share_of_peak']:.0%} of a 2048³ {last['precision']} product ({last['peak_gflops']:.0f} GFLOP/s).",
    ]
    return "\n".join(lines)


def _tables(last: dict[str, Any]) -> list[str]:
    """Tokens per second of the contenders, and their ratios."""
    return [
        "",
        "| | tokens/s | range over laps | memory, MB |",
        "|---|---|---|---|",
        *(_row(name, found) for name, found in last["contenders"].items()),
        "",
        "| ratio | all laps | median | range over laps |",
        "|---|---|---|---|",
        *(
            f"| {name} | {found['ratio']:.2f} | {found['median']:.2f} | {min(found['ratios']):.2f} to {max(found['ratios']):.2f} |"
            for name, found in last["ratios"].items()
        ),
    ]


def _row(name: str, found: dict[str, Any]) -> str:
    rates = found["rates"]
    return f"| {name} | {found['rate']:,.0f} | {min(rates):,.0f} to {max(rates):,.0f} | {found['memory_mb']:,.0f} |"


def headline() -> str:
    last = records.read("training")[-1]
    found = last["ratios"]["fine-tuning / trainer"]
    how = ", one thread each, in processor time" if last.get("threads") == 1 else ""
    return f"Fine-tuning processes {found['median']:.2f}× as many tokens per second as transformers' Trainer (median; {min(found['ratios']):.2f} to {max(found['ratios']):.2f}{how})."


PAGE = Page(
    "training",
    "Training speed",
    "Speed",
    headline,
    (
        Section("training", "Compared with transformers' Trainer", section),
        Section("pretraining_speed", "Pretraining, compared with transformers' Trainer", pretraining),
    ),
)
