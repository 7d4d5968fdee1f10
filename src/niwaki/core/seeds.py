"""Randomness that is computed, not carried: every draw has its own generator, named by (seed, what, where)."""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def derive(seed: int, *parts: str | int) -> int:
    """A 63-bit number that depends on all of its arguments and on nothing else."""
    text = "/".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def seed_torch(seed: int) -> None:
    """What `torch.manual_seed` does, without its cost on machines without accelerator: for each kind of device that is not in use it
    formats the whole stack, and training seeds every step."""
    import torch

    seed_all = torch.manual_seed if torch.accelerator.is_available() else torch.default_generator.manual_seed
    seed_all(seed)


def numpy_generator(seed: int, *parts: str | int) -> "np.random.Generator":
    import numpy as np

    return np.random.default_rng(derive(seed, *parts))
