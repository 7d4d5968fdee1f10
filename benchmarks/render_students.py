"""Renders a table of students and their teachers: size, score, speed and payback."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
NAMES = {
    "int8": "int8",
    "quarter": "a quarter of the size, no training",
    "tenth": "a tenth of the size, distilled",
    "tenth-alone": "the same network, not distilled",
}
TARGETS = {"quarter": (1 / 4, 0.97), "tenth": (1 / 10, 0.93)}  # largest share of the bytes, smallest share of the score
ABOUT = (
    "Students compared with their teacher: size of the whole folder, score kept, and throughput of both in ONNX Runtime, interleaved. Payback is the number of texts "
    "after which the energy for training the student (its own stages) is saved."
)


@dataclass(frozen=True)
class Student:
    task: str
    name: str
    bytes: int
    score: Record  # value, low, high
    teacher_bytes: int
    teacher_score: float
    joules: float  # of its own stages
    race: Record | None  # laps of `made` (the student) and `teacher`; None without a teacher


def table(students: Sequence[Student]) -> list[str]:
    return [
        ABOUT,
        "",
        "| task | student | MB | share of the teacher's size | score | score kept | target | faster | J per 1,000 texts (teacher) | payback, texts |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *map(line, students),
    ]


def line(student: Student) -> str:
    share, score_share = student.bytes / student.teacher_bytes, student.score["value"] / student.teacher_score
    max_share, min_score_share = TARGETS.get(student.name, (0, 0))
    met = "met" if share <= max_share and score_share >= min_score_share else "not met"
    return cells(
        student.task,
        NAMES[student.name],
        f"{student.bytes / 1e6:.2f}",
        f"{share:.1%}",
        score_cell(student.score),
        f"{score_share:.1%}",
        f"{min_score_share:.0%} of the score in {max_share:.0%} of the size: {met}" if min_score_share else "",
        *speed(student),
    )


def speed(student: Student) -> list[str]:
    """Speed-up over the teacher, joules of both per 1,000 texts, and the number of texts to pay back."""
    if student.race is None:
        return [""] * 3
    own, teacher = student.race["made"], student.race["teacher"]
    own_joules, teacher_joules = (lap["energy_per_1000"]["joules"] for lap in (own, teacher))
    saved = teacher_joules - own_joules
    payback = f"{1000 * student.joules / saved:,.0f}" if saved > 0 else "never"
    return [f"{own['ratio']['value']:.1f} ×", f"{own_joules:.1f} ({teacher_joules:.1f})", payback]


def score_cell(score: Record) -> str:
    return f"**{100 * score['value']:.1f}** ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def cells(*values: str) -> str:
    return f"| {' | '.join(values)} |"
