"""Renders the page on several heads on one encoder."""

import records
from results_page import Page, Record, Records, Section


def heads(rows: Records) -> str:
    row = rows[-1]
    one, mixed = row["heads"], row["mixed"]
    lines = [
        f"Command: `python benchmarks/heads.py {row['deltas']}`. MiniLM-L6, random heads and LoRA deltas (rank 8), {row['texts']} texts of rotten_tomatoes, "
        "one thread, in turns; processor seconds, because the machine did other work too.",
        "",
        "| what | seconds | compared with |",
        "|---|---|---|",
        f"| one head | {one['one head']:.3f} | |",
        f"| nine heads, one encoder pass | {one['nine heads']:.3f} | {ratio(row, 'nine heads'):.2f} × one head |",
        f"| one head, encoder outputs from the cache | {one['cached one head']:.4f} | {1 / ratio(row, 'cached one head'):.0f} × cheaper than one head |",
        f"| looking up the encoder outputs of a text | {one['fetching its outputs from memory']:.6f} | "
        f"{one['encoder pass of a text'] / one['fetching its outputs from memory']:,.0f} × cheaper than computing them |",
        f"| every text with another of {row['deltas']} deltas | {mixed['mixed']:.3f} | {single(mixed):.0%} of the throughput with a single delta |",
        f"| a single delta, `niwaki.load` (engine torch), texts in batches | {mixed['niwaki.load, single delta, batches']:.3f} | "
        f"{mixed['niwaki.load, single delta, batches'] / mixed['mixed']:.0%} is what mixed texts reach of its throughput |",
        "",
        f"{mixed['answers unlike the solo answer']} of {row['texts']} answers differ from those of the text alone. The process has {mixed['MB, one delta']:.0f} MB with one delta and "
        f"{mixed['MB, all deltas']:.0f} MB with all, with Python and torch.",
    ]
    return "\n".join(lines)


def ratio(row: Record, name: str) -> float:
    return float(row["heads"][name] / row["heads"]["one head"])


def single(mixed: dict[str, float]) -> float:
    return mixed["single delta"] / mixed["mixed"]


def headline() -> str:
    row = records.read("heads")[-1]
    return (
        f"Nine heads cost {ratio(row, 'nine heads'):.2f} × one head; an encoder output from the cache saves {1 - ratio(row, 'cached one head'):.1%} of the time; texts of "
        f"{row['deltas']} deltas mixed reach {single(row['mixed']):.0%} of the throughput with one."
    )


PAGE = Page("heads", "Several heads on one encoder", "Speed", headline, (Section("heads", "Heads and deltas", heads),))
