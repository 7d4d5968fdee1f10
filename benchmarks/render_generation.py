"""The section on texts that are written: formulas and translations."""

from typing import Any

from render_students import NAMES, Student, cells, table, told

Record = dict[str, Any]
TASKS = {
    "cogs": "COGS",
    "scan": "SCAN, simple",
    "geoquery": "GeoQuery, FunQL",
    "atis": "ATIS",
    "multi30k": "Multi30k en→de, 2016",
}
ASKED = {"cogs": 0.98, "scan": 0.995, "geoquery": 0.80, "atis": 0.82, "multi30k": 0.36}
GENERAL = 0.30  # asked of COGS's generalization


def writing(rows: list[Record]) -> str:
    """The newest record of each model."""
    newest = {(row["task"], row["name"]): row for row in rows}
    teachers = {task: newest[task, "teacher"] for task in TASKS if (task, "teacher") in newest}
    lines = [
        "Command: `python benchmarks/generation.py DATA`, one seed. Exact match of formulas (GeoQuery also by what they denote), sacreBLEU "
        "of translations; × 100, with the 95 % interval. Trained from nothing, but for GeoQuery and ATIS, whose encoder is MiniLM-L6. "
        "Minutes are CPU time of the training with all its attempts.",
        "",
        "| task | metric | asked | teacher | also | parameters | MB | CPU minutes |",
        "|---|---|---|---|---|---|---|---|",
        *(teacher_line(TASKS[task], task, row) for task, row in teachers.items()),
        *(
            teacher_line(f"{TASKS[task]}, one stack that reads and writes", task, newest[task, "prefix"])
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
            "Cascades: the tenth writes, and where it is unsure the teacher does ([Cascades](cascade.md)). How sure is sure enough was chosen on the validation rows; "
            "time and energy are of test texts, in ONNX Runtime, interleaved with the teacher alone.",
            "",
            "| task | asked to keep | answered by the tenth, validation | kept there | answered by the tenth, test | kept there | faster than the teacher | J per 1,000 texts (teacher's) |",
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
        f"{100 * ASKED[task]:.4g}",
        told(score),
        also(task, row),
        f"{row['parameters'] / 1e6:.1f} M",
        f"{row['bytes'] / 1e6:.1f}",
        f"{row['spent'][0]['cpu_seconds'] / 60:.0f}",
    )


def also(task: str, row: Record) -> str:
    others = {
        name: one["value"]
        for name, one in row["score"]["all"].items()
        if (name != row["score"]["metric"] and not name.startswith("exact_")) or name == "exact_unordered"
    }
    parts = {part: score["value"] for part, score in row["parts"].items()}
    found = [f"{name} {100 * value:.1f}" for name, value in {**others, **parts}.items()]
    return ", ".join(found) + (f" (asked {100 * GENERAL:.0f})" if task == "cogs" else "")


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


def search(rows: list[Record]) -> str:
    """The newest record of each width of the beam."""
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
            f"Command: `python benchmarks/beam_search.py`. A Marian with random weights, {shape['encoder_layers']} + {shape['decoder_layers']} layers of {shape['d_model']}, {first['pieces']:,} pieces, "
            f"{first['texts']} texts each written to {first['longest']} tokens: `generate` of transformers (eager, fp32, batches of 32, all cores) beside the same weights in niwaki; "
            "texts a second, with the ratio and its 95 % interval.",
            "",
            "| beam | transformers | niwaki, ONNX Runtime | niwaki, torch | J per 1,000 texts: transformers / ONNX Runtime | the same text |",
            "|---|---|---|---|---|---|",
            *lines,
        ]
    )


def ratio(one: Record) -> str:
    return f"{one['value']:.2f} ×, {one['low']:.2f} to {one['high']:.2f}"
