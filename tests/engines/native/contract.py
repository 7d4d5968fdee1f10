"""What the native engine promises for every shape, as one check that the tests and benchmarks/native_shapes.py share.

A text's logits are the same to the bit whatever was computed before (call history), with it (batch composition) and by how many
threads, whatever the scratch memory holds, and in one go or continued at an early exit; and they are near to torch.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engines.native.reference import Reference
from engines.native.shapes import Drawn, Text, chain
from niwaki.engines.native import library as c
from niwaki.engines.native.network import MAX_THREADS, Network

# What scratch memory holds before a call, as 32-bit words. None leaves what the last call wrote; 0x7F7F7F7F is a float of 3.4e38, because
# minimum and maximum pass over NaN.
FILLS = {"leftovers": None, "NaN": 0x7FC00000, "0xFF": 0xFFFFFFFF, "0x7F": 0x7F7F7F7F}
GUARD, GUARDED = 0xA5, 4096  # bytes behind the scratch memory that no kernel may write to
# Largest difference to torch, relative to the largest logit of the program. Where a number lies between two codes, float32 and
# float64 may round it to different ones: few texts are FAR from torch for that, and none beyond FARTHEST.
NEAR, FAR_SHARE, FARTHEST = 1e-4, 0.05, 0.15
NUDGE = 2e-6  # relative change of weights that stands for float32's rounding


class Filled(Network):
    """With scratch memory that is filled before each call, and checked behind its end after it."""

    fill: int | None = None
    overrun = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.products = 1 << 40  # so that all threads are used, though there is little work

    def scratch(self, needed: int) -> np.ndarray:
        room = getattr(self._local, "room", None)
        if room is None or len(room) < needed + GUARDED:
            room = self._local.room = c.aligned((needed + GUARDED) * 2, np.uint8)
        if self.fill is not None:
            room[: needed // 4 * 4].view(np.uint32)[:] = self.fill
        room[needed : needed + GUARDED] = GUARD
        self._local.guard = room[needed : needed + GUARDED]
        return room

    def run_layers(self, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        found = super().run_layers(*given)
        self.overrun |= bool((self._local.guard != GUARD).any())
        return found


@dataclass
class Verdict:
    """What was found for one shape and one set of kernels; `faults` is empty where the promise holds."""

    faults: list[str] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)  # of each text, from torch
    calls: int = 0


def judge(seed: int, kernels: str, histories: int) -> Verdict:
    drawn, verdict = Drawn(seed), Verdict()
    network = Filled(drawn.program, drawn.tensors, f"shape {seed}", kernels)
    alone = [network(ids, types, np.array([len(ids)])) for ids, types in drawn.texts]  # on scratch memory of zeros
    verdict.apart = distances(drawn, alone, network.kernels.last_code)
    if not all(np.isfinite(rows).all() for rows in alone):
        verdict.faults.append("logits are not finite")
    draw = np.random.default_rng(seed)
    exits = [one for one in range(1, network.depth) if draw.random() < 0.5]
    wanted = [chain(network, exits, [text], 1) for text in drawn.texts]
    if not all(same_bits(rows[-1], whole) for rows, whole in zip(wanted, alone, strict=True)):
        verdict.faults.append(f"with exits at {exits} the last logits differ")
    for number in range(histories):
        name = list(FILLS)[number % len(FILLS)]
        network.fill = FILLS[name]
        chosen = draw.integers(0, len(drawn.texts), draw.integers(1, 9))
        threads = int(draw.choice([1, 2, 3, draw.integers(4, 17), MAX_THREADS], p=[0.4, 0.3, 0.15, 0.13, 0.02]))
        found = chain(network, exits if number % 3 == 0 else [], [drawn.texts[one] for one in chosen], threads)
        verdict.calls += len(found)
        for logits, rows in zip(
            reversed(found), zip(*(reversed(wanted[one]) for one in chosen), strict=True), strict=False
        ):
            if not same_bits(logits, np.concatenate(rows)):
                verdict.faults.append(
                    f"call {number} differs: texts {chosen.tolist()}, {threads} threads, scratch memory filled with {name}"
                )
    if network.overrun:
        verdict.faults.append("wrote behind the end of its scratch memory")
    return verdict


def call(network: Network, texts: list[Text], threads: int) -> np.ndarray:
    return chain(network, [], texts, threads)[-1]


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one.view(np.uint32), other.view(np.uint32))


def distances(drawn: Drawn, found: list[np.ndarray], last_code: int) -> list[float]:
    reference = Reference(drawn.program, drawn.tensors, last_code)
    wanted = [reference(*text) for text in drawn.texts]
    size = max(1.0, *(float(np.abs(rows).max()) for rows in wanted))
    apart = [float(np.abs(one - other).max()) / size for one, other in zip(found, wanted, strict=True)]
    return [
        one
        for one, text in zip(apart, drawn.texts, strict=True)
        if one <= FARTHEST or is_stable(drawn, text, last_code)
    ]


def is_stable(drawn: Drawn, text: Text, last_code: int) -> bool:
    """Whether torch itself gives nearly the same when every weight changes by a few millionths: where many numbers lie between two codes, it
    does not."""
    found = []
    for seed in range(6):
        draw = np.random.default_rng(seed)
        nudged = {
            name: value * (1 + NUDGE * draw.standard_normal(value.shape))
            for name, value in drawn.tensors.items()
            if value.dtype == np.float32
        }
        tensors = drawn.tensors | {name: value.astype(np.float32) for name, value in nudged.items()}
        found.append(Reference(drawn.program, tensors, last_code)(*text))
    return float(np.ptp(found, axis=0).max()) <= FARTHEST


def too_far(apart: list[float]) -> str:
    """A sentence where texts are further from torch than stated, over many shapes."""
    far = np.mean(np.array(apart) > NEAR)
    if far <= FAR_SHARE and max(apart) <= FARTHEST:
        return ""
    return f"{far:.1%} of texts are further than {NEAR} from torch (allowed: {FAR_SHARE:.0%}), the farthest {max(apart):.3g} (allowed: {FARTHEST})"
