"""Renders the records of recommendations.py for docs/results.md and docs/reliability.md."""

from typing import Any

Record = dict[str, Any]
NEEDED = {"yes": "yes", "probably": "probably", "not shown": "no difference shown", "no": "no", None: "not asked"}


def latest(rows: list[Record]) -> list[Record]:
    """The newest record of each run."""
    return list({row["name"]: row for row in rows}.values())


def recommendations(rows: list[Record]) -> str:
    return "\n".join(
        [
            "Command: `python benchmarks/recommendations.py QUESTIONS`, with QUESTIONS a CSV file of TREC's questions and their six classes. The rule ([The report](report.md#which-stage-to-deploy)) is worked out anew from the figures of each run, and the recommended model is loaded.",
            "",
            "| run | recommended | keeps of the best | MB (reference) | speed, with its range | in ONNX Runtime | transformer needed? | fine-tuning needed? | baselines not run | right? |",
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
        f"{NEEDED[row['transformer']]}, against {row['baseline']}",
        NEEDED[row["fine_tuning"]],
        str(len(row["not_run"])),
        "; ".join(row["faults"]) or "yes",
    ]
    return f"| {' | '.join(cells)} |"


def promise(rows: list[Record]) -> str:
    """One cell for the table of promises."""
    wrong = [f"{row['name']}: {fault}" for row in latest(rows) for fault in row["faults"]]
    told = "; ".join(
        f"{row['name']}: {row['deploy']}, {row['kept']:.1%} kept, {row['bytes'] / 1e6:.1f} MB" for row in latest(rows)
    )
    return f"{told}; {len(wrong)} wrong{': ' + '; '.join(wrong) if wrong else ''}"
