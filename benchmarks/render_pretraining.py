"""Renders the comparison of pretraining objectives."""

from typing import Any

import records
from results_page import Page, Section

TASKS = ("cola", "sst2", "mrpc", "rte", "stsb")


def section(rows: list[dict[str, Any]]) -> str:
    newest = {(row["objective"], row["seed"]): row for row in rows}
    lines = [
        f"Command: `python benchmarks/pretraining.py DATA --text TEXT`. Networks of 6 layers of 256 with 8,000 tokens, {rows[-1]['minutes']:g} minutes of training each on the "
        "same text. BLiMP: mean accuracy over paradigms. Perplexities of masked models are pseudo-perplexities: compare them with each other only. GLUE: after "
        "fine-tuning, official metric on the development rows.",
        "",
        f"| objective | epochs | perplexity | BLiMP | {' | '.join(TASKS)} | kJ |",
        f"|---|---|---|---|{'---|' * len(TASKS)}---|",
        *(_row(row) for row in newest.values()),
    ]
    return "\n".join(lines)


def _row(row: dict[str, Any]) -> str:
    perplexity = row["score"]["all"]["perplexity"]["value"]
    glue = " | ".join(f"{100 * row['glue'][task]:.1f}" for task in TASKS)
    joules = row["spent"]["joules"]
    energy = "" if joules is None else f"{joules / 1000:.1f}"
    return f"| {row['objective']} | {row['epochs']:.2f} | {perplexity:,.1f} | {100 * row['blimp']['accuracy']:.1f} | {glue} | {energy} |"


def headline() -> str:
    rows = records.read("pretraining")
    best = max(rows, key=lambda row: row["blimp"]["accuracy"])
    return f"After {best['minutes']:g} minutes of pretraining, `{best['objective']}` has the highest score on BLiMP: {100 * best['blimp']['accuracy']:.1f}."


PAGE = Page(
    "pretraining",
    "Pretraining objectives",
    "Tasks",
    headline,
    (Section("pretraining", "Objectives at equal time", section),),
)
