"""A model, not a measurement: what distilling BERT-base into half its layers on a billion sentences would take on 1 to 64 machines.

    time of the teacher   sentences × tokens / (teacher's tokens per second × machines)      each machine reads its part once, into the cache
    time of the student   steps × (batch × tokens / (student's tokens per second × machines) + exchange)
    exchange              2 × 4 bytes × parameters × (machines - 1) / machines / bytes per second of the network; 0 on one machine

Measured constants come from `distributed.py --constants` on one machine; the machines are copies of it. The batch grows with the machines, one
part of the measured size for each. Assumed: the speed of the network, machines that are equally fast, no overlap of computing and exchange, and
rates that stay what they are in a few seconds. Left out: validation, checkpoints, failures, reading the texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SENTENCES = 1_000_000_000
MACHINES = (1, 2, 4, 8, 16, 32, 64)
NETWORKS = {"1 Gbit/s": 1e9 / 8, "10 Gbit/s": 1e10 / 8, "100 Gbit/s": 1e11 / 8}  # assumed bytes per second
DAY, BYTES = 86_400.0, 4


@dataclass(frozen=True)
class Estimate:
    machines: int
    teacher_seconds: float
    student_seconds: float
    exchange_seconds: float
    watts: float

    @property
    def seconds(self) -> float:
        return self.teacher_seconds + self.student_seconds + self.exchange_seconds

    @property
    def efficiency(self) -> float:
        """Share of the time in which a machine computes."""
        return 1 - self.exchange_seconds / self.seconds

    @property
    def kwh(self) -> float:
        """Of all machines; they draw their full power all the time."""
        return self.machines * self.watts * self.seconds / 3.6e6


def estimate(constants: dict[str, Any], machines: int, bytes_per_second: float, watts: float) -> Estimate:
    tokens = SENTENCES * constants["tokens_per_sentence"]
    steps = SENTENCES / (constants["batch_sentences"] * machines)
    sent = 2 * BYTES * constants["student_parameters"] * (machines - 1) / machines
    return Estimate(
        machines,
        tokens / (constants["teacher_tokens_per_second"] * machines),
        tokens / (constants["student_tokens_per_second"] * machines),
        steps * sent / bytes_per_second,
        watts,
    )


def estimates(
    constants: dict[str, Any], bytes_per_second: float, watts: float, machines: Sequence[int] = MACHINES
) -> list[Estimate]:
    return [estimate(constants, count, bytes_per_second, watts) for count in machines]
