"""Renders the section on translation metrics: WMT22 outputs scored by niwaki, by sacreBLEU and by the organizers."""

from typing import Any

import records
from results_page import Page, Section

Record = dict[str, Any]
SAME = 1e-9  # of a score from 0 to 100


def wmt22(rows: list[Record]) -> str:
    newest = {(row["pair"], row["reference"]): row for row in rows}
    scores = [(row, name) for row in newest.values() for name in ("bleu", "chrf")]
    equal = {
        other: sum(abs(row["ours"][name]["value"] - row[other][name]) < SAME for row, name in scores)
        for other in ("sacrebleu", "official")
    }
    largest = max(abs(row["ours"][name]["value"] - row["official"][name]) for row, name in scores)
    last = list(newest.values())[-1]
    slowest = max(row["seconds"]["resampling"] for row in newest.values())
    head = "| pair, reference | rows | BLEU, niwaki (95 % interval) | BLEU, official | chrF, niwaki (95 % interval) | chrF, official |\n|---|---|---|---|---|---|"
    return "\n\n".join(
        [
            "Command: `python benchmarks/wmt22.py DATA`. Outputs of the system Online-B on the test sets of the WMT22 General Machine Translation Task, scored by the "
            "task `translation` (× 100), compared with the official scores (wmt22-news-systems, automatic-scores.tsv).",
            "\n".join([head, *map(line, newest.values())]),
            f"Of {len(scores)} scores, {equal['official']} equal the official ones and {equal['sacrebleu']} those of sacreBLEU, to 1e-9; the largest difference to an official score is {largest:.1g}. "
            f"Signature: {last['signature']}. The intervals, from 1,000 resamples of the rows, took at most {slowest:.1f} CPU seconds. Pairs into Chinese and Japanese are "
            "left out because their official BLEU uses other tokenizers than 13a.",
        ]
    )


def line(row: Record) -> str:
    cells = []
    for name in ("bleu", "chrf"):
        ours = row["ours"][name]
        cells += [f"{ours['value']:.2f} ({ours['low']:.1f} to {ours['high']:.1f})", f"{row['official'][name]:.2f}"]
    return f"| {row['pair']}, {row['reference']} | {row['rows']} | {' | '.join(cells)} |"


def headline() -> str:
    newest = {(row["pair"], row["reference"]): row for row in records.read("wmt22")}
    scores = [(row, name) for row in newest.values() for name in ("bleu", "chrf")]
    equal = sum(abs(row["ours"][name]["value"] - row["official"][name]) < SAME for row, name in scores)
    return f"{equal} of {len(scores)} BLEU and chrF scores equal the official ones of WMT22."


PAGE = Page(
    "translation", "Translation metrics", "Tasks", headline, (Section("wmt22", "BLEU and chrF on WMT22", wmt22),)
)
