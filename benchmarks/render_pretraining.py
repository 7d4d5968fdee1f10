"""Renders the comparison of pretraining objectives."""

from typing import Any

import numpy as np
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


def options(rows: list[dict[str, Any]]) -> str:
    newest = {(row["option"], row["seed"]): row for row in rows}
    plain = next((row for row in newest.values() if row["option"] == "plain"), None)
    lines = [
        f"Command: `python benchmarks/pretraining_options.py DATA --text TEXT`. Masked language modeling on sequences of 128 tokens, {rows[-1]['minutes']:g} minutes of "
        "training each; every option changes one thing of `plain`. Bits per byte are pseudo-likelihoods of the test documents; less is better. MiniLM was pretrained by others, on far more text.",
        "",
        "| option | parameters, M | epochs | bits per byte | BLiMP | mean of GLUE | gain | kJ |",
        "|---|---|---|---|---|---|---|---|",
        *(_option_row(row, plain) for row in newest.values()),
    ]
    return "\n".join(lines)


def _option_row(row: dict[str, Any], plain: dict[str, Any] | None) -> str:
    bits, own = row["score"]["all"]["bits_per_byte"]["value"], _glue_mean(row)
    gain = "" if plain is None or row is plain else f"{own - _glue_mean(plain):+.1f}"
    return (
        f"| {row['option']} | {row['parameters'] / 1e6:.1f} | {row['epochs']:.2f} | {bits:.3f} | {100 * row['blimp']['accuracy']:.1f} "
        f"| {own:.1f} | {gain} | {row['spent']['joules'] / 1000:.1f} |"
    )


def _glue_mean(row: dict[str, Any]) -> float:
    return float(np.mean([100 * row["glue"][task] for task in TASKS]))


def vectors(rows: list[dict[str, Any]]) -> str:
    newest = {(row["vectors"], row["seed"]): row for row in rows}
    lines = [
        f"Command: `python benchmarks/sentence_vectors.py DATA --text TEXT`. {rows[-1]['minutes']:g} minutes of training each on the same text. STS-B: correlation of "
        "the cosines with the judgements of the development rows, in %; nothing is fitted. Next sentence: mean reciprocal rank among up to 1,000.",
        "",
        "| vectors | epochs | STS-B, Spearman | Pearson | next sentence | kJ |",
        "|---|---|---|---|---|---|",
        *(
            f"| {row['vectors']} | {row['epochs']:.2f} | {row['stsb']['spearman']:.1f} | {row['stsb']['pearson']:.1f} "
            f"| {row['next_sentence']['value']:.3f} | {(row['spent']['joules'] or 0) / 1000:.1f} |"
            for row in newest.values()
        ),
    ]
    return "\n".join(lines)


def headline() -> str:
    rows = records.read("pretraining")
    if not rows:
        return "options that make pretraining cheaper, word and sentence vectors"
    best = max(rows, key=lambda row: row["blimp"]["accuracy"])
    return f"After {best['minutes']:g} minutes of pretraining, `{best['objective']}` has the highest score on BLiMP: {100 * best['blimp']['accuracy']:.1f}."


PAGE = Page(
    "pretraining",
    "Pretraining objectives",
    "Tasks",
    headline,
    (
        Section("pretraining", "Objectives at equal time", section),
        Section("pretraining_options", "Cheap-training options at equal time", options),
        Section("sentence_vectors", "Word and sentence vectors", vectors),
    ),
)
