"""How the learning rate follows the progress of a training."""

import math
from typing import Literal

Schedule = Literal["linear", "cosine", "wsd"]
DECAY = 0.2  # share of all steps in which `wsd` falls


def schedule(step: int, total: int, warmup: float, kind: Schedule = "linear") -> float:
    """Learning-rate factor: linear warm-up, then a decay that never quite reaches 0. `wsd` stays at 1 until the last fifth (warm-up, stable,
    decay: Hu et al. 2024, arXiv 2404.06395)."""
    rising = max(1, round(total * warmup)) if warmup else 0
    left = (total - step) / max(1, total - rising)
    if kind == "cosine":
        falling = 0.5 * (1 - math.cos(math.pi * min(1.0, left)))
    else:
        falling = left if kind == "linear" else (total - step) / max(1.0, total * DECAY)
    return min((step + 1) / rising if rising else 1.0, falling, 1.0)
