"""Renders the section on semantic parsing: FunQL compared with SQL, and the coverage of grammars."""

from typing import Any

import records
from results_page import Page, Section

Record = dict[str, Any]
NAMES = {"geoquery": "GeoQuery", "atis": "ATIS", "cogs": "COGS"}
AGREEMENT = {
    "the same": "equal",
    "the same where heights are numbers": "equal if elevations are numbers",
    "the same where COUNT counts what is different": "equal if COUNT counts distinct rivers",
    "another": "different",
    "SQL that does not run": "SQL fails",
}  # stored keys to labels


def formulas(rows: list[Record]) -> str:
    newest = rows[-1]
    total = sum(newest["agreement"].values())
    lines = [
        f"| {AGREEMENT.get(result, result)} | {count} | {100 * count / total:.1f} |"
        for result, count in sorted(newest["agreement"].items(), key=lambda item: -item[1])
    ]
    return "\n\n".join(
        [
            "Command: `python benchmarks/formulas.py DATA`. niwaki's FunQL interpreter compared with the gold SQL of the same "
            f"{total} GeoQuery questions; no model is involved. The database stores elevations as text, so its SQL ranks 979 above 6194, and has several rows per river, "
            "which COUNT counts separately. Remaining differences are questions whose formulas differ in meaning (`elevation` as a place or as a number) or "
            "refer to data that the tables lack.",
            "\n".join(["| denotation of FunQL and SQL | rows | % |", "|---|---|---|", *lines]),
            "Grammars induced from the training formulas. Of each split: formulas with a symbol that does not occur in training, which cannot be generated, and formulas of known symbols that the grammar "
            "forbids.",
            "\n".join(
                [
                    "| task | grammar kB | split | rows | unknown symbols | forbidden |",
                    "|---|---|---|---|---|---|",
                    *coverage(newest["grammars"]),
                ]
            ),
        ]
    )


def coverage(grammars: list[Record]) -> list[str]:
    lines = []
    for grammar in grammars:
        added = f", {grammar['recombined']} rows recombined" if grammar["recombined"] else ""
        name = " ".join(part for part in (NAMES[grammar["task"]], grammar["meaning"]) if part) + added
        for part, counts in grammar["parts"].items():
            lines.append(
                f"| {name} | {grammar['bytes'] / 1e3:.1f} | {part} | {counts['rows']} | {counts['unknown']} | {counts['forbidden']} |"
            )
    return lines


def headline() -> str:
    agreement = records.read("formulas")[-1]["agreement"]
    return f"niwaki's FunQL interpreter and the gold SQL have the same denotation for {agreement['the same'] / sum(agreement.values()):.1%} of the GeoQuery questions."


PAGE = Page(
    "semantic_parsing",
    "Semantic parsing",
    "Tasks",
    headline,
    (Section("formulas", "Interpreter and grammars", formulas),),
)
