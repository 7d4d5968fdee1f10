"""The section on texts that are written: formulas and translations."""

from typing import Any

Record = dict[str, Any]
TASKS = {
    "cogs": "COGS", "scan": "SCAN, simple", "geoquery": "GeoQuery, FunQL", "atis": "ATIS", "multi30k": "Multi30k en→de, 2016",
}  # fmt: skip
ASKED = {"cogs": 0.98, "scan": 0.995, "geoquery": 0.80, "atis": 0.82, "multi30k": 0.36}
GENERAL = 0.30  # asked of COGS's generalization
NAMES = {
    "int8": "8 bits", "quarter": "a quarter, without training", "tenth": "a tenth, taught", "tenth-alone": "the same network without the teacher",
}  # fmt: skip
KEPT = {"quarter": (1 / 4, 0.97), "tenth": (1 / 10, 0.93)}  # at most so many bytes, at least so much of the score


def writing(rows: list[Record]) -> str:
    """The newest record of each model."""
    newest = {(row["task"], row["name"]): row for row in rows}
    teachers = {task: newest[task, "teacher"] for task in TASKS if (task, "teacher") in newest}
    lines = [
        "Command: `python benchmarks/writing.py DATA`, one seed. Exact match of formulas (GeoQuery also by what they denote), sacreBLEU "
        "of translations; × 100, with the 95 % interval. Trained from nothing, but for GeoQuery and ATIS, whose encoder is MiniLM-L6. "
        "Minutes are CPU time of the training with all its attempts.",
        "",
        "| task | metric | asked | teacher | also | parameters | MB | CPU minutes |",
        "|---|---|---|---|---|---|---|---|",
        *(teacher_line(task, row) for task, row in teachers.items()),
    ]
    students = [(task, name) for task in teachers for name in NAMES if (task, name) in newest]
    if students:
        lines += [
            "",
            "Students, against their teacher: bytes of the whole folder, score kept, and texts a second of both in ONNX Runtime, interleaved. Payback is the number of texts "
            "after which what the student took to make (its own stages) is saved.",
            "",
            "| task | student | MB | of the teacher's bytes | score | kept | asked | faster | J per 1,000 texts (teacher's) | payback, texts |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *(student_line(task, name, newest[task, name], teachers[task]) for task, name in students),
        ]
    return "\n".join(lines)


def teacher_line(task: str, row: Record) -> str:
    score = row["score"]
    return cells(
        TASKS[task], score["metric"], f"{100 * ASKED[task]:.4g}", told(score), also(task, row), f"{row['parameters'] / 1e6:.1f} M",
        f"{row['bytes'] / 1e6:.1f}", f"{row['spent'][0]['cpu_seconds'] / 60:.0f}",
    )  # fmt: skip


def told(score: Record) -> str:
    return f"**{100 * score['value']:.1f}** ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def also(task: str, row: Record) -> str:
    others = {name: one["value"] for name, one in row["score"]["all"].items() if (name != row["score"]["metric"] and not name.startswith("exact_")) or name == "exact_unordered"}  # fmt: skip
    parts = {part: score["value"] for part, score in row["parts"].items()}
    found = [f"{name} {100 * value:.1f}" for name, value in {**others, **parts}.items()]
    return ", ".join(found) + (f" (asked {100 * GENERAL:.0f})" if task == "cogs" else "")


def student_line(task: str, name: str, row: Record, teacher: Record) -> str:
    share, kept = row["bytes"] / teacher["bytes"], row["score"]["value"] / teacher["score"]["value"]
    bytes_asked, kept_asked = KEPT.get(name, (0, 0))
    asked = f"{100 * kept_asked:.0f} % in {bytes_asked:.0%}: {'met' if share <= bytes_asked and kept >= kept_asked else 'not met'}" if kept_asked else ""  # fmt: skip
    return cells(
        TASKS[task], NAMES[name], f"{row['bytes'] / 1e6:.2f}", f"{share:.1%}", told(row["score"]), f"{kept:.1%}", asked, *speed(row)
    )  # fmt: skip


def speed(row: Record) -> list[str]:
    """How much faster than the teacher, joules of both for 1,000 texts, and after how many texts the making is paid back."""
    if "race" not in row:
        return [""] * 3
    made, teacher = row["race"]["made"], row["race"]["teacher"]
    own, theirs = (one["energy_per_1000"]["joules"] for one in (made, teacher))
    spent = sum(one["joules"] for one in row["spent"][1:])
    payback = f"{1000 * spent / (theirs - own):,.0f}" if theirs > own else "never"
    return [f"{made['ratio']['value']:.1f} ×", f"{own:.1f} ({theirs:.1f})", payback]


def cells(*values: str) -> str:
    return f"| {' | '.join(values)} |"
