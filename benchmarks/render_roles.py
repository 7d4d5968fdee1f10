"""The section on semantic roles."""

from typing import Any

from render_students import Student, table

Record = dict[str, Any]
NAMES = {
    "minilm": "MiniLM-L6, three epochs",
    "minilm-longer": "the same, two epochs more (the teacher)",
    "quarter": "the teacher, its words trimmed, 8 bits, without training",
    "tenth": "four layers, taught, 4 bits",
    "tenth-alone": "the same network, not taught, 4 bits",
}
ASKED = 0.75


def roles(rows: list[Record]) -> str:
    """The newest record of each model."""
    newest = {row["name"]: row for row in rows}
    found = [newest[name] for name in NAMES if name in newest]
    first = found[0]
    return "\n".join(
        [
            "Command: `python benchmarks/roles.py DATA`. PropBank over the English Web Treebank: "
            f"{first['rows']['train']:,} train rows (one for each sentence, one for each predicate), {first['train']['epochs']} epochs; test F1 × 100 as srl-eval.pl counts "
            "(C-X joined to X, V left out), with its 95 % interval. `sentence alone`: predicates found by the model too, arguments of a predicate that is none are wrong.",
            "",
            "| model | MB | F1, predicates given | precision | recall | predicates F1 | senses right | F1, sentence alone |",
            "|---|---|---|---|---|---|---|---|",
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
    rest = [f"{every[name]:.1f}" for name in ("precision", "recall", "f1_predicates", "accuracy_senses")]
    return (
        "| "
        + " | ".join(
            [NAMES[row["name"]], f"{row['bytes'] / 1e6:.1f}", main, *rest, f"{100 * row['sentences']['f1']:.1f}"]
        )
        + " |"
    )


def goal(found: list[Record]) -> str:
    """The best of MiniLM with all its floats, beside what was asked."""
    best = max(found, key=lambda row: row["score"]["value"])
    value = best["score"]["value"]
    spent = sum(one["cpu_seconds"] for one in (best["first_spent"], *best["spent"]))
    return f"Asked of MiniLM-L6 with predicates given: at least {100 * ASKED:.0f}; it is {100 * value:.1f}{'' if value >= ASKED else ', which falls short'}. Its training took {spent / 60:.0f} CPU minutes."


def students(newest: dict[str, Record]) -> list[str]:
    made = [Student("roles", name, **newest[name]["student"]) for name in ("quarter", "tenth") if name in newest]
    if made and "tenth-alone" in newest:
        alone = newest["tenth-alone"]
        made.append(
            Student(
                "roles",
                "tenth-alone",
                alone["bytes"],
                alone["score"],
                made[0].teacher_bytes,
                made[0].teacher_score,
                0.0,
                None,
            )
        )
    return [*table(made), ""] if made else []


def heads(row: Record) -> list[str]:
    if not row["heads"]:
        return []
    lines = [
        f"| {name} | {one['rows']:,} | {100 * one['f1_roles']:.1f} | {100 * one['f1_predicates']:.1f} | {100 * one['accuracy_senses']:.1f} |"
        for name, one in row["heads"].items()
    ]
    return [
        f"{NAMES[row['name']]}, trained on English stretches, on the dependency sets of the Universal Propositions: the label at the head word of each argument "
        "(English is gold; the others are projected automatically, and this model's vocabulary is English, so they show the measure more than the model).",
        "",
        "| set | rows | F1 of heads, predicates given | predicates F1 | senses right |",
        "|---|---|---|---|---|",
        *lines,
    ]


def costs(row: Record) -> str:
    parts = row["parts"]
    total = sum(parts[name] for name in ("tokens", "network", "tags"))
    told = ", ".join(
        f"{name} {parts[name]:.1f} s ({parts[name] / total:.0%})" for name in ("tokens", "network", "tags")
    )
    return f"CPU time for the {parts['rows']:,} test rows in ONNX Runtime: {told}; `tags` is the search for valid tags."
