"""Renders the page on the guarantee of cascades."""

import records
from results_page import Page, Record, Section


def cascade(rows: list[Record]) -> str:
    found = [one for row in rows for one in row["settings"]]
    lines = [
        f"| {one['metric']} | {one['rows']} | {len(one['skills'])}, error correlation {one['alike']:g} | {one['labels']} | {one['keep']:.0%} | {one['level']:.0%} | {one['held']:.1%} of {one['draws']} | {one['early']:.0%} |"
        for one in found
    ]
    notes = [f"Note: {row['note']}." for row in rows if "note" in row]
    head = [
        "| metric | rows | models | labels | keep | level | guarantee held in | stop early |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(
        [
            "Command: `python benchmarks/cascade.py 200`. Thresholds are chosen on a sample of simulated models with a known true score; the table shows how often the share is really kept, measured on 100,000 rows.",
            *notes,
            "",
            *head,
            *lines,
        ]
    )


def headline() -> str:
    level = 0.95
    held = [one["held"] for row in records.read("cascade") for one in row["settings"] if one["level"] == level]
    return f"A guarantee at the {level:.0%} level holds in {min(held):.1%} to {max(held):.1%} of simulated draws."


PAGE = Page("cascades", "Cascades", "Compression", headline, (Section("cascade", "Guarantee of a cascade", cascade),))
