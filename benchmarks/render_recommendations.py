"""Renders the section on recommendations, and its row in docs/reliability.md."""

from typing import Any

import records
from results_page import Page, Section

Record = dict[str, Any]
NEEDED = {"yes": "yes", "probably": "probably", "not shown": "no difference shown", "no": "no", None: "not compared"}


def latest(rows: list[Record]) -> list[Record]:
    """The newest record of each run."""
    return list({row["name"]: row for row in rows}.values())


def recommendations(rows: list[Record]) -> str:
    return "\n".join(
        [
            "Command: `python benchmarks/recommendations.py QUESTIONS`, with QUESTIONS a CSV file of TREC questions and their six classes. The recommendation is recomputed from the figures of each run by the documented rule ([The report](../report.md#recommendation)), and the recommended model is loaded.",
            "",
            "| run | recommended | score kept | MB (reference) | speed-up, with its range | in ONNX Runtime | transformer needed? | fine-tuning needed? | skipped baselines | correct? |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *(line(row) for row in latest(rows)),
        ]
    )


def line(row: Record) -> str:
    ratio = row["ratio"]
    speed = f"{ratio['value']:.1f}× ({ratio['low']:.1f} to {ratio['high']:.1f}), {row['engine']}{', busy machine' if row['busy'] else ''}"
    cells = [
        row["name"],
        row["deploy"],
        f"{row['kept']:.1%} of {row['best']}",
        f"{row['bytes'] / 1e6:.1f} ({row['reference_bytes'] / 1e6:.1f})",
        speed,
        f"{row['portable_ratio']:.1f}×",
        f"{NEEDED[row['transformer']]}, compared with {row['baseline']}",
        NEEDED[row["fine_tuning"]],
        str(len(row["not_run"])),
        "; ".join(row["faults"]) or "yes",
    ]
    return f"| {' | '.join(cells)} |"


def guarantee(rows: list[Record]) -> str:
    """One cell for the table of guarantees."""
    wrong = [f"{row['name']}: {fault}" for row in latest(rows) for fault in row["faults"]]
    summary = "; ".join(
        f"{row['name']}: {row['deploy']}, {row['kept']:.1%} kept, {row['bytes'] / 1e6:.1f} MB" for row in latest(rows)
    )
    return f"{summary}; {len(wrong)} wrong{': ' + '; '.join(wrong) if wrong else ''}"


def headline() -> str:
    rows = latest(records.read("recommendations"))
    right = sum(not row["faults"] for row in rows)
    return f"{right} of {len(rows)} recommendations follow the documented rule."


PAGE = Page(
    "recommendations",
    "Recommendations",
    "Overview",
    headline,
    (Section("recommendations", "Recommended models", recommendations),),
)
