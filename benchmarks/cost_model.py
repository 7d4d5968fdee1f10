"""A model, not a measurement: what distilling BERT-base into half its layers on a billion sentences would take on 1 to 64 machines.

    teacher    sentences × tokens / (teacher's tokens per second and core × cores)      each machine computes its part once
    student    sentences × tokens / (student's tokens per second and core × cores)
    exchange   steps × bytes × (1 / bytes per second of the network + 1 / bytes per second of a core), 0 on one machine, with
               bytes = 2 × 4 × parameters × (machines - 1) / machines

Measured constants come from `distributed.py --constants`. There is one process for each machine, and the batch grows with the machines, one
micro-shard of the measured size for each core. Assumed: the network, machines that are equally fast, cores that do not slow each other down, no
overlap of computing and exchange, and rates that stay what they are in a few seconds. Left out: validation, checkpoints, failures, reading the texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SENTENCES = 1_000_000_000
MACHINES = (1, 2, 4, 8, 16, 32, 64)
CORES = 64  # of each machine, assumed
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


def estimate(
    constants: dict[str, Any], machines: int, bytes_per_second: float, watts: float, cores: int = CORES
) -> Estimate:
    tokens = SENTENCES * constants["tokens_per_sentence"]
    steps = SENTENCES / (constants["batch_sentences"] * cores * machines)
    sent = 2 * BYTES * constants["student_parameters"] * (machines - 1) / machines
    return Estimate(
        machines,
        tokens / (constants["teacher_tokens_per_second"] * cores * machines),
        tokens / (constants["student_tokens_per_second"] * cores * machines),
        steps * sent * (1 / bytes_per_second + 1 / constants["exchange_bytes_per_cpu_second"]),
        watts,
    )


def estimates(
    constants: dict[str, Any], bytes_per_second: float, watts: float, machines: Sequence[int] = MACHINES
) -> list[Estimate]:
    return [estimate(constants, count, bytes_per_second, watts) for count in machines]
