"""Renders the section on semantic roles."""

from typing import Any

import records
from render_students import Student, table
from results_page import Page, Section

Record = dict[str, Any]
NAMES = {
    "minilm": "MiniLM-L6, three epochs",
    "minilm-longer": "the same, two more epochs (the teacher)",
    "quarter": "the teacher, vocabulary trimmed, int8, no training",
    "tenth": "four layers, distilled, 4 bits",
    "tenth-alone": "the same network, not distilled, 4 bits",
}
GROUPS = ("accuracy_first_sense", "accuracy_other_senses")  # older records have none
TARGET = 0.75


def roles(rows: list[Record]) -> str:
    """The newest record of each model."""
    newest = {row["name"]: row for row in rows}
    found = [newest[name] for name in NAMES if name in newest]
    first = found[0]
    return "\n".join(
        [
            "Command: `python benchmarks/roles.py DATA`. PropBank over the English Web Treebank: "
            f"{first['rows']['train']:,} training rows (one per sentence and one per predicate), {first['train']['epochs']} epochs; test F1 × 100 as in srl-eval.pl "
            "(C-X joined to X, without V), with 95 % intervals. Plain sentences: the model also finds the predicates, and arguments of wrong predicates count as errors. "
            "First senses: accuracy on predicates with their word's most frequent sense in the training rows; – is not recorded.",
            "",
            "| model | MB | F1, given predicates | precision | recall | predicate F1 | sense accuracy | first senses | other senses | F1, plain sentences |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *(line(row) for row in found),
            "",
            goal([row for row in found if row["name"] in ("minilm", "minilm-longer")] or found),
            "",
            *students(newest),
            *heads(first),
            "",
            costs(first),
        ]
    )


def line(row: Record) -> str:
    every = {name: 100 * score["value"] for name, score in row["score"]["all"].items()}
    main = f"**{every['f1_roles']:.1f}** ({100 * row['score']['low']:.1f} to {100 * row['score']['high']:.1f})"
    names = ("precision", "recall", "f1_predicates", "accuracy_senses", *GROUPS)
    rest = [f"{every[name]:.1f}" if name in every else "–" for name in names]
    return (
        "| "
        + " | ".join(
            [NAMES[row["name"]], f"{row['bytes'] / 1e6:.1f}", main, *rest, f"{100 * row['sentences']['f1']:.1f}"]
        )
        + " |"
    )


def goal(found: list[Record]) -> str:
    """The best float MiniLM model, compared with the target."""
    best = max(found, key=lambda row: row["score"]["value"])
    value = best["score"]["value"]
    spent = sum(one["cpu_seconds"] for one in (best["first_spent"], *best["spent"]))
    return f"Target for MiniLM-L6 with given predicates: at least {100 * TARGET:.0f}; measured: {100 * value:.1f}, {'met' if value >= TARGET else 'not met'}. Training took {spent / 60:.0f} CPU minutes."


def students(newest: dict[str, Record]) -> list[str]:
    rows = [Student("roles", name, **newest[name]["student"]) for name in ("quarter", "tenth") if name in newest]
    if rows and "tenth-alone" in newest:
        alone = newest["tenth-alone"]
        rows.append(
            Student(
                "roles",
                "tenth-alone",
                alone["bytes"],
                alone["score"],
                rows[0].teacher_bytes,
                rows[0].teacher_score,
                0.0,
                None,
            )
        )
    return [*table(rows), ""] if rows else []


def heads(row: Record) -> list[str]:
    if not row["heads"]:
        return []
    lines = [
        f"| {name} | {one['rows']:,} | {100 * one['f1_roles']:.1f} | {100 * one['f1_predicates']:.1f} | {100 * one['accuracy_senses']:.1f} |"
        for name, one in row["heads"].items()
    ]
    return [
        f"{NAMES[row['name']]}, trained on English spans, evaluated on dependency data of the Universal Propositions by the label at each argument's head word. "
        "English is annotated by hand; the other languages are projected automatically and are foreign to this English model, so they illustrate the metric rather than the model.",
        "",
        "| data set | rows | head F1, given predicates | predicate F1 | sense accuracy |",
        "|---|---|---|---|---|",
        *lines,
    ]


def costs(row: Record) -> str:
    parts = row["parts"]
    total = sum(parts[name] for name in ("tokens", "network", "tags"))
    shares = ", ".join(
        f"{name} {parts[name]:.1f} s ({parts[name] / total:.0%})" for name in ("tokens", "network", "tags")
    )
    return f"CPU time for the {parts['rows']:,} test rows in ONNX Runtime: {shares}; `tags` is the Viterbi search."


def headline() -> str:
    newest = {row["name"]: row for row in records.read("roles")}
    f1 = [100 * newest[name]["score"]["value"] for name in ("minilm-longer", "tenth")]
    share = newest["tenth"]["bytes"] / newest["minilm-longer"]["bytes"]
    return (
        f"MiniLM reaches an F1 of {f1[0]:.1f} with given predicates; a student of {share:.0%} of its size {f1[1]:.1f}."
    )


PAGE = Page("semantic_roles", "Semantic roles", "Tasks", headline, (Section("roles", "PropBank roles", roles),))
