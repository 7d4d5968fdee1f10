"""The section on formulas: FunQL against SQL, and what grammars let through."""

from typing import Any

Record = dict[str, Any]
NAMES = {"geoquery": "GeoQuery", "atis": "ATIS", "cogs": "COGS"}


def formulas(rows: list[Record]) -> str:
    newest = rows[-1]
    total = sum(newest["agreement"].values())
    lines = [
        f"| {said} | {count} | {100 * count / total:.1f} |"
        for said, count in sorted(newest["agreement"].items(), key=lambda one: -one[1])
    ]
    return "\n\n".join(
        [
            "Command: `python benchmarks/formulas.py DATA`. No model: our interpreter of FunQL against the SQL that others wrote for the same "
            f"{total} questions of GeoQuery. The file keeps heights as text, so that its SQL finds 979 higher than 6194; and a river has a row for each "
            "stretch, which its COUNT counts one by one. What denotes another thing asks another thing (`elevation` as a place and as a number), or "
            "differs in what is in no table.",
            "\n".join(["| FunQL denotes, beside the SQL of its row | rows | % |", "|---|---|---|", *lines]),
            "Grammars read off the train formulas: of the formulas of each part, those with a symbol that no train row has, which no model of words "
            "can write, and those of known symbols that the grammar forbids.",
            "\n".join(
                [
                    "| formulas | kB | part | rows | unknown symbols | forbidden |",
                    "|---|---|---|---|---|---|",
                    *covered(newest["grammars"]),
                ]
            ),
        ]
    )


def covered(grammars: list[Record]) -> list[str]:
    lines = []
    for grammar in grammars:
        added = f", {grammar['recombined']} rows recombined" if grammar["recombined"] else ""
        name = " ".join(part for part in (NAMES[grammar["task"]], grammar["meaning"]) if part) + added
        for part, counts in grammar["parts"].items():
            lines.append(
                f"| {name} | {grammar['bytes'] / 1e3:.1f} | {part} | {counts['rows']} | {counts['unknown']} | {counts['forbidden']} |"
            )
    return lines
