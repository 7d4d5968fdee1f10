"""A machine that is not there: its clock moves by arithmetic, and so does all that makes real samples unsteady."""

import math
import random
from types import TracebackType

from niwaki.meter import Reading


class Machine:
    """Work takes longer by chance, by a pace that drifts, and while a neighbour comes and goes.

    It stands in for the meter's window too: `with machine:` reads its clock. Equal seeds, equal machines.
    """

    def __init__(self, seed: int, noise: float = 0.004, drift: float = 0.0, busy: float = 0.1, free: float = 5.0):
        self.draw = random.Random(seed)
        self.noise = noise  # of a call, as a part of it
        self.drift = drift * self.draw.choice((-1, 1))  # of the pace, a second
        self.stays = {True: busy, False: free}  # seconds that the neighbour is here and away, in the mean
        self.here, self.seconds = False, 0.0
        self.turns_at = self.draw.expovariate(1 / free)
        self.reading = Reading()

    def work(self, seconds: float) -> None:
        left = seconds * self.draw.lognormvariate(0, self.noise)
        while left > 0:
            pace = math.exp(self.drift * self.seconds) * (1.7 if self.here else 1.0)  # 1.7 was seen: docs/measuring.md
            step = min(left * pace, self.turns_at - self.seconds)
            self.seconds += step
            left -= step / pace
            if self.seconds >= self.turns_at:
                self.here = not self.here
                self.turns_at = self.seconds + self.draw.expovariate(1 / self.stays[self.here])

    def __enter__(self) -> "Machine":
        self.began = self.seconds
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.reading = Reading(self.seconds - self.began, self.seconds - self.began)


def noisy(level: float, count: int, seed: int, spread: float = 0.1) -> list[float]:
    draw = random.Random(seed)
    return [level * draw.lognormvariate(0, spread) for _ in range(count)]
