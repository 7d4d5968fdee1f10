"""Renders the sections on sequence-to-sequence models: formulas, translations, search."""

from typing import Any

import records
from render_students import NAMES, Student, cells, score_cell, table
from results_page import Page, Section

Record = dict[str, Any]
TASKS = {
    "cogs": "COGS",
    "scan": "SCAN, simple",
    "geoquery": "GeoQuery, FunQL",
    "atis": "ATIS",
    "multi30k": "Multi30k en→de, 2016",
}
TARGETS = {"cogs": 0.98, "scan": 0.995, "geoquery": 0.80, "atis": 0.82, "multi30k": 0.36}
GENERALIZATION_TARGET = 0.30  # for the split `gen` of COGS


def generation(rows: list[Record]) -> str:
    """The newest record of each model."""
    newest = {(row["task"], row["name"]): row for row in rows}
    teachers = {task: newest[task, "teacher"] for task in TASKS if (task, "teacher") in newest}
    lines = [
        "Command: `python benchmarks/generation.py DATA`, one seed. Exact match of formulas (GeoQuery also by denotation), sacreBLEU "
        "of translations; × 100, with 95 % intervals. Trained from random weights, except GeoQuery and ATIS, whose encoder is MiniLM-L6. "
        "CPU minutes include all attempts.",
        "",
        "| task | metric | target | teacher | other metrics and splits | parameters | MB | CPU minutes |",
        "|---|---|---|---|---|---|---|---|",
        *(teacher_line(TASKS[task], task, row) for task, row in teachers.items()),
        *(
            teacher_line(f"{TASKS[task]}, prefix language model (no decoder)", task, newest[task, "prefix"])
            for task in TASKS
            if (task, "prefix") in newest
        ),
    ]
    students = [(task, name) for task in teachers for name in NAMES if (task, name) in newest]
    if students:
        lines += ["", *table([student(task, name, newest[task, name], teachers[task]) for task, name in students])]
    cascades = [newest[task, "cascade"] for task in teachers if (task, "cascade") in newest]
    if cascades:
        lines += [
            "",
            "Cascades of the student of a tenth and the teacher ([Cascades](../cascade.md)), with thresholds chosen on the validation rows. Time and energy are for the test texts in ONNX Runtime, interleaved with the "
            "teacher alone.",
            "",
            "| task | `--keep` | answered by the student, validation | score kept, validation | answered by the student, test | score kept, test | speed-up over the teacher | J per 1,000 texts (teacher) |",
            "|---|---|---|---|---|---|---|---|",
            *map(cascade_line, cascades),
        ]
    return "\n".join(lines)


def cascade_line(row: Record) -> str:
    ratio, joules = (
        row["speed"]["cascade"]["ratio"],
        [row["speed"][name]["joules_per_1000"] for name in ("cascade", "teacher")],
    )
    return cells(
        TASKS[row["task"]],
        f"{row['keep']:.0%}",
        f"{row['answers']['tenth']:.1%}",
        f"{row['validation']['kept']:.1%}",
        f"{row['test']['answers'][0]:.1%}",
        f"{row['test']['kept']:.1%}",
        f"{ratio['value']:.2f} × ({ratio['low']:.2f} to {ratio['high']:.2f})",
        f"{joules[0]:.1f} ({joules[1]:.1f})",
    )


def teacher_line(title: str, task: str, row: Record) -> str:
    score = row["score"]
    return cells(
        title,
        score["metric"],
        f"{100 * TARGETS[task]:.4g}",
        score_cell(score),
        other_scores(task, row),
        f"{row['parameters'] / 1e6:.1f} M",
        f"{row['bytes'] / 1e6:.1f}",
        f"{row['spent'][0]['cpu_seconds'] / 60:.0f}",
    )


def other_scores(task: str, row: Record) -> str:
    others = {
        name: one["value"]
        for name, one in row["score"]["all"].items()
        if (name != row["score"]["metric"] and not name.startswith("exact_")) or name == "exact_unordered"
    }
    parts = {part: score["value"] for part, score in row["parts"].items()}
    found = [f"{name} {100 * value:.1f}" for name, value in {**others, **parts}.items()]
    return ", ".join(found) + (f" (target {100 * GENERALIZATION_TARGET:.0f})" if task == "cogs" else "")


def student(task: str, name: str, row: Record, teacher: Record) -> Student:
    return Student(
        TASKS[task],
        name,
        row["bytes"],
        row["score"],
        teacher["bytes"],
        teacher["score"]["value"],
        sum(one["joules"] for one in row["spent"][1:]),
        row.get("race"),
    )


def beam_search(rows: list[Record]) -> str:
    """The newest record of each beam size."""
    newest = {row["beam"]: row for row in rows}
    first = rows[-1]
    shape = first["shape"]
    lines = []
    for beam, row in sorted(newest.items()):
        found = row["contenders"]
        ours = [
            f"{found[name]['throughput']['value']:.0f} ({ratio(found[name]['ratio'])})" for name in ("onnx", "torch")
        ]
        joules = " / ".join(f"{found[name]['energy_per_1000']['joules']:.0f}" for name in ("transformers", "onnx"))
        same = ", ".join(f"{name} {count} of {row['texts']}" for name, count in row["same"].items())
        lines.append(cells(str(beam), f"{found['transformers']['throughput']['value']:.0f}", *ours, joules, same))
    return "\n".join(
        [
            f"Command: `python benchmarks/beam_search.py`. A Marian model with random weights, {shape['encoder_layers']} + {shape['decoder_layers']} layers with hidden size {shape['d_model']}, {first['pieces']:,} tokens, "
            f"{first['texts']} texts with {first['longest']} generated tokens each: transformers' `generate` (eager, fp32, batches of 32, all cores) and the same weights in niwaki. "
            "Texts per second, with the ratio and its 95 % interval.",
            "",
            "| beam | transformers | niwaki, ONNX Runtime | niwaki, torch | J per 1,000 texts: transformers / ONNX Runtime | identical texts |",
            "|---|---|---|---|---|---|",
            *lines,
        ]
    )


def ratio(one: Record) -> str:
    return f"{one['value']:.2f} ×, {one['low']:.2f} to {one['high']:.2f}"


def headline() -> str:
    newest = {(row["task"], row["name"]): row for row in records.read("writing")}
    shares = [
        row["score"]["value"] / newest[task, "teacher"]["score"]["value"]
        for (task, name), row in newest.items()
        if name == "tenth"
    ]
    return f"Students of a tenth of the size keep {min(shares):.1%} to {max(shares):.1%} of their teacher's score on ATIS and Multi30k."


PAGE = Page(
    "generation",
    "Sequence-to-sequence models",
    "Tasks",
    headline,
    (
        Section("writing", "Formulas and translations", generation),
        Section("search", "Generation speed, compared with transformers", beam_search),
    ),
)
