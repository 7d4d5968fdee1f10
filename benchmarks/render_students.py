"""The table of students beside their teachers: bytes, score, speed, and when what they took to make is saved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
NAMES = {
    "int8": "8 bits",
    "quarter": "a quarter, without training",
    "tenth": "a tenth, taught",
    "tenth-alone": "the same network without the teacher",
}
KEPT = {"quarter": (1 / 4, 0.97), "tenth": (1 / 10, 0.93)}  # at most so many bytes, at least so much of the score
ABOUT = (
    "Students, against their teacher: bytes of the whole folder, score kept, and texts a second of both in ONNX Runtime, interleaved. Payback is the number of texts "
    "after which what the student took to make (its own stages) is saved."
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
    race: Record | None  # laps of `made` and `teacher`; none where it was made without a teacher


def table(students: Sequence[Student]) -> list[str]:
    return [
        ABOUT,
        "",
        "| task | student | MB | of the teacher's bytes | score | kept | asked | faster | J per 1,000 texts (teacher's) | payback, texts |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *map(line, students),
    ]


def line(one: Student) -> str:
    share, kept = one.bytes / one.teacher_bytes, one.score["value"] / one.teacher_score
    bytes_asked, kept_asked = KEPT.get(one.name, (0, 0))
    met = "met" if share <= bytes_asked and kept >= kept_asked else "not met"
    asked = f"{kept_asked:.0%} in {bytes_asked:.0%}: {met}" if kept_asked else ""
    return cells(
        one.task,
        NAMES[one.name],
        f"{one.bytes / 1e6:.2f}",
        f"{share:.1%}",
        told(one.score),
        f"{kept:.1%}",
        asked,
        *speed(one),
    )


def speed(one: Student) -> list[str]:
    """How much faster than the teacher, joules of both for 1,000 texts, and after how many texts the making is paid back."""
    if one.race is None:
        return [""] * 3
    made, teacher = one.race["made"], one.race["teacher"]
    own, theirs = (lap["energy_per_1000"]["joules"] for lap in (made, teacher))
    payback = f"{1000 * one.joules / (theirs - own):,.0f}" if theirs > own else "never"
    return [f"{made['ratio']['value']:.1f} ×", f"{own:.1f} ({theirs:.1f})", payback]


def told(score: Record) -> str:
    return f"**{100 * score['value']:.1f}** ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def cells(*values: str) -> str:
    return f"| {' | '.join(values)} |"
