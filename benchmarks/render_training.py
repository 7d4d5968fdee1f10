"""The section on training speed in docs/results.md, from results/training.jsonl."""

from typing import Any


def section(rows: list[dict[str, Any]]) -> str:
    last = rows[-1]
    laps = len(last["ratios"])
    lines = [
        f"Command: `python benchmarks/training.py`. MiniLM-L6 fine-tuned on the embedded reviews, embeddings frozen, {last['precision']}, batches of 32 of like "
        "length, fused AdamW. Both take turns in one process; tokens are real ones, without padding.",
        "",
        "| | tokens/s, by lap |",
        "|---|---|",
        *(f"| {name} | {', '.join(f'{rate:,.0f}' for rate in rates)} |" for name, rates in last["rates"].items()),
        "",
        f"Ratio, median of {laps} laps: {last['ratio']:.2f} ({min(last['ratios']):.2f} to {max(last['ratios']):.2f}). niwaki's matrix products run at "
        f"{last['share_of_peak']:.0%} of a 2048³ {last['precision']} product ({last['peak_gflops']:.0f} GFLOP/s).",
    ]
    return "\n".join(lines)
