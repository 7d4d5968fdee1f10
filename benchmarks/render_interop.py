"""Renders the page on exported models in other tools."""

from typing import Any

import records
from results_page import Page, Section

Record = dict[str, Any]
KINDS = {
    "label": "text classification",
    "tags": "token classification",
    "span": "question answering",
    "embedding": "sentence embeddings",
}
HINT = "niwaki.load(folder)"  # in the error that transformers raises for an edited model


def body(rows: list[Record]) -> str:
    newest = list({(row["kind"], row["model"]): row for row in rows}.values())
    parts = [
        "Command: `python benchmarks/interop.py`. MiniLM with random heads is written in the layout of `niwaki export MODEL --to hub`, and each tool loads the folder unchanged, in its own "
        "environment. Figures are the largest absolute difference between any output and that of niwaki's ONNX engine, one text at a time; in brackets, all texts in one padded "
        "batch. Quantized models differ in batches because activations are quantized per batch, in niwaki too. `rejected` is the error that names `niwaki.load`.",
        versions(newest),
    ]
    for kind, title in KINDS.items():
        shown = [row for row in newest if row["kind"] == kind]
        if shown:
            parts += [f"### {title.capitalize()}", table(shown), provenance(shown[-1])]
    return "\n\n".join(parts)


def provenance(row: Record) -> str:
    note = f" ({row['note']})" if row.get("note") else ""
    return f"{row['time'][:10]}, commit {row['commit']}{note}, {row['texts']} texts; standard deviation of niwaki's outputs {row['spread']:.2g} (last row)."


def versions(rows: list[Record]) -> str:
    found: dict[str, str] = {}
    for row in rows:
        for consumer, outcome in row["consumers"].items():
            found[consumer] = ", ".join(f"{name} {version}" for name, version in outcome["versions"].items())
    return "\n".join(["| tool | versions |", "|---|---|", *(f"| {name} | {text} |" for name, text in found.items())])


def table(rows: list[Record]) -> str:
    consumers = list(dict.fromkeys(name for row in rows for name in row["consumers"]))
    head = [f"| model | {' | '.join(consumers)} |", "|" + "---|" * (len(consumers) + 1)]
    return "\n".join(
        [
            *head,
            *(
                f"| {row['model']} | {' | '.join(cell(row['consumers'].get(name)) for name in consumers)} |"
                for row in rows
            ),
        ]
    )


def cell(outcome: Record | None) -> str:
    if outcome is None:
        return ""
    if "error" in outcome:
        return "rejected" if HINT in outcome["error"] else f"failed: {outcome['error'][:60]}"
    return "{single:.0e} ({batch:.0e})".format(**outcome["largest_difference"])


def headline() -> str:
    rows = records.read("interop")
    ran = [outcome for row in rows for outcome in row["consumers"].values() if "largest_difference" in outcome]
    tools = {
        name.split()[0] for row in rows for name, outcome in row["consumers"].items() if "largest_difference" in outcome
    }
    largest = max((outcome["largest_difference"]["single"] for outcome in ran), default=0.0)
    return (
        f"Exported folders run unchanged in {', '.join(sorted(tools))}; one text at a time, outputs differ from niwaki's by at most {largest:.0e}. "
        "Quantized models differ more in batches."
    )


PAGE = Page(
    "interoperability",
    "Interoperability",
    "Energy and reliability",
    headline,
    (Section("interop", "Exported models in other tools", body),),
)
