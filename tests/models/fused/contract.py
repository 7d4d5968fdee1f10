"""What the training kernels promise for every shape.

Results and gradients are the same to the bit whatever was computed before, whatever scratch memory and new tensors hold, and for each
number of threads; results and the gradients of rows for all numbers of threads. Nothing is written outside, and all is near to torch.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from models.fused.comparing import difference
from models.fused.shapes import Drawn, results
from niwaki.models.fused import library

# What memory holds before a call, as 16-bit words; the last one is a large number, because maximums pass over NaN.
FILLS = {"NaN": 0x7FC0, "0xFF": 0xFFFF, "0x7F": 0x7F7F}
GUARD, GUARDED = 0x5A5A, 256  # words on both sides of scratch memory
THREADS = (1, 2, 3, 7)
TOLERANCE = 0.02  # of the norm of the difference; a bf16 number is rounded by up to 0.004


class FreshScratch(dict[str, Tensor]):
    """Stands for the scratch memory of a thread: each call gets new memory of exactly the requested size, filled and guarded."""

    def __init__(self, fill: int) -> None:
        self.fill, self.all = fill, list[Tensor]()

    def __contains__(self, name: object) -> bool:
        return False

    def __setitem__(self, name: str, wanted: Tensor) -> None:
        words = wanted.numel() * wanted.element_size() // 2
        whole = torch.from_numpy(np.full(words + 2 * GUARDED, GUARD, np.uint16).view(np.int16))
        inside = whole[GUARDED : GUARDED + words]
        inside.copy_(torch.from_numpy(np.full(words, self.fill, np.uint16).view(np.int16)))
        self.all.append(whole)
        super().__setitem__(name, inside.view(wanted.dtype))

    @property
    def overrun(self) -> bool:
        guard = np.uint16(GUARD).view(np.int16)
        return any(bool((one[:GUARDED] != guard).any() or (one[-GUARDED:] != guard).any()) for one in self.all)


@contextmanager
def poisoned_memory(fill: int, threads: int) -> Iterator[FreshScratch]:
    """New tensors hold NaN, scratch memory the fill."""
    before, own = torch.get_num_threads(), getattr(library._local, "buffers", {})
    library._local.buffers = scratch = FreshScratch(fill)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(threads)
    try:
        yield scratch
    finally:
        torch.set_num_threads(before)
        torch.use_deterministic_algorithms(False)
        library._local.buffers = own


def judge(seed: int) -> list[str]:
    """What is wrong with one call."""
    drawn, draw = Drawn(seed), np.random.default_rng(seed)
    name, faults = f"shape {seed}, {drawn.kernel}", list[str]()
    with torch.autocast("cpu", torch.bfloat16):
        first = results(drawn, drawn.own)  # with what earlier calls left in scratch memory
        for fill, word in FILLS.items():
            threads = int(draw.choice(THREADS))
            with poisoned_memory(word, threads) as scratch:
                found = results(drawn, drawn.own)
                again = results(drawn, drawn.own)
            same = [same_bits(one, other) for one, other in zip(found, first, strict=True)]
            if not all(map(same_bits, found, again)) or not all(same[: 1 + rows_of(drawn)]):
                faults.append(f"{name}: other bits with {threads} threads, memory filled with {fill}")
            if scratch.overrun:
                faults.append(f"{name}: wrote outside of its scratch memory")
            first = [*first[: 1 + rows_of(drawn)], *found[1 + rows_of(drawn) :]]  # the last are compared below
    if drawn.reference is not None:
        expected = results(drawn, drawn.reference)
        apart = [difference(one, other) for one, other in zip(first, expected, strict=True)]
        faults += [f"{name}: tensor {n} is {far:.2g} from torch" for n, far in enumerate(apart) if not far < TOLERANCE]
    return faults


def rows_of(drawn: Drawn) -> int:
    """How many inputs are rows; gradients of the others are sums over rows, which threads divide."""
    return sum(one.dtype == torch.bfloat16 or drawn.kernel == "pre_norm" for one in drawn.inputs[:3] if one.ndim == 2)


def same_bits(one: Tensor, other: Tensor) -> bool:
    kind = torch.int16 if one.dtype == torch.bfloat16 else torch.int32
    return torch.equal(one.contiguous().view(kind), other.contiguous().view(kind))
