"""Uninitialized reads of the native engine, under valgrind: `make sanitize` builds the kernels with memcheck.c and runs this.

    NIWAKI_KERNELS=library valgrind [...] python -m engines.native.memcheck [shapes]

Random programs (shapes.py) run with scratch memory and outputs that memcheck takes for undefined. Whatever the kernels decide by, or
hand out, must not depend on it. Valgrind does not know AVX-512, so the plain and the AVX2 kernels run.
"""

import ctypes
import gc
import sys
from typing import Any

import numpy as np

from engines.native.generated_texts import DrawnTexts, joined
from engines.native.shapes import Drawn, chain
from engines.native.test_language import MODELS, program
from niwaki.engines.native import library as c
from niwaki.engines.native.generator import Generator
from niwaki.engines.native.language import LanguageNetwork, Reader
from niwaki.engines.native.network import Network

KERNELS = ("plain", "avx2")
THREADS = (1, 3)


class Forgetful(Network):
    """With scratch memory that is undefined at each call."""

    def __init__(self, memcheck: Any, *given: Any) -> None:
        super().__init__(*given)
        self.memcheck = memcheck
        self.before, self.decided, self.handed_out = 0, False, False
        self.products = 1 << 40  # so that all threads are used, though there is little work

    def scratch(self, needed: int) -> np.ndarray:
        room = c.aligned(needed, np.uint8)
        self.memcheck.memcheck_forget(ctypes.c_void_p(room.ctypes.data), ctypes.c_size_t(needed))
        self.before = self.memcheck.memcheck_errors()  # what the interpreter does in between stays out of the count
        return room

    def run_layers(self, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        found = super().run_layers(*given)
        self.decided |= self.memcheck.memcheck_errors() != self.before
        self.handed_out |= any(undefined(self.memcheck, array) for array in found)
        return found


class ForgetfulGenerator(Forgetful, Generator):
    """With blocks that are undefined too, one for each step."""

    block_floats = 1

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.step_products = 1 << 40

    def block(self, floats: int) -> np.ndarray:
        found = super().block(floats)
        self.memcheck.memcheck_forget(ctypes.c_void_p(found.ctypes.data), ctypes.c_size_t(found.nbytes))
        return found

    def _call(self, *given: Any) -> None:
        super()._call(*given)
        self.decided |= self.memcheck.memcheck_errors() != self.before


class ForgetfulLanguage(LanguageNetwork):
    """With scratch memory, and keys and values of each step, that are undefined when the step begins."""

    def __init__(self, memcheck: Any, *given: Any) -> None:
        super().__init__(*given)
        self.memcheck, self.step_products = memcheck, 1 << 40
        self.before, self.decided, self.handed_out = 0, False, False

    def scratch(self, needed: int) -> np.ndarray:
        room = c.aligned(needed, np.uint8)
        self.memcheck.memcheck_forget(ctypes.c_void_p(room.ctypes.data), ctypes.c_size_t(needed))
        self.before = self.memcheck.memcheck_errors()
        return room


class ForgetfulReader(Reader):
    def memory(self, floats: int) -> np.ndarray:
        found = super().memory(floats)
        memcheck = self.network.memcheck  # type: ignore[attr-defined]
        memcheck.memcheck_forget(ctypes.c_void_p(found.ctypes.data), ctypes.c_size_t(found.nbytes))
        return found

    def _read(self, logits: np.ndarray) -> None:
        super()._read(logits)
        network: Any = self.network
        network.decided |= network.memcheck.memcheck_errors() != network.before
        network.handed_out |= undefined(network.memcheck, logits)


def main(shapes: int) -> int:
    memcheck = c.library()
    if memcheck is None or not hasattr(memcheck, "memcheck_runs") or not memcheck.memcheck_runs():
        sys.exit(
            "memcheck: NIWAKI_KERNELS must name kernels built with memcheck.c, and valgrind must run this; use `make sanitize`"
        )
    memcheck.memcheck_undefined.restype = ctypes.c_size_t
    missing_requirement = [name for name in KERNELS if c.kernels(name) is None]
    if missing_requirement:
        sys.exit(f"memcheck: valgrind does not run the kernels {', '.join(missing_requirement)} here")
    gc.disable()  # so that it cannot fall between two counts
    faults = [fault for seed in range(shapes) for name in KERNELS for fault in faults_of(memcheck, seed, name)]
    faults += [fault for model in MODELS for name in KERNELS for fault in faults_of_language(memcheck, model, name)]
    summary = (
        f"memcheck: {shapes} shapes, {len(MODELS)} language models, kernels {', '.join(KERNELS)}: {len(faults)} faults"
    )
    sys.stderr.write("\n".join([*faults, summary]) + "\n")
    return 1 if faults else 0


def faults_of(memcheck: Any, seed: int, kernels: str) -> list[str]:
    drawn = Drawn(seed)
    network = Forgetful(memcheck, drawn.program, drawn.tensors, f"shape {seed}", kernels)
    for threads in THREADS:
        chain(network, [1] if network.depth > 1 else [], drawn.texts, threads)
    return [*faults_in(network, seed, kernels), *faults_of_texts(memcheck, seed, kernels)]


def faults_of_texts(memcheck: Any, seed: int, kernels: str) -> list[str]:
    drawn = DrawnTexts(seed)
    network = ForgetfulGenerator(memcheck, drawn.program, drawn.tensors, f"texts {seed}", kernels)
    texts = joined(drawn.texts)
    for threads in THREADS:
        found = [
            network.generate(*texts, drawn.search, threads),
            network.score(*texts, drawn.targets(), drawn.search, threads),
        ]
        network.handed_out |= any(undefined(memcheck, array) for array in found)
    return faults_in(network, seed, kernels)


def faults_of_language(memcheck: Any, model: str, kernels: str) -> list[str]:
    """Texts read at once, then token by token, some from a prefix that others have."""
    given, tensors, texts, _ = program(model)
    network = ForgetfulLanguage(memcheck, given, tensors, model, kernels)
    for threads in THREADS:
        reader = ForgetfulReader(network, threads)
        for length in (5, 6, 7):
            reader.next_logits([text[:length].tolist() for text in texts if len(text) >= length])
        reader = ForgetfulReader(network, threads)
        logits = np.empty((len(texts[0]), network.sizes.vocabulary), dtype=np.float32)
        reader.read_all(texts[0].tolist(), logits)
    return faults_in(network, model, kernels)


def faults_in(network: Any, seed: int | str, kernels: str) -> list[str]:
    summary = {"a decision depends": network.decided, "outputs depend": network.handed_out}
    name = type(network).__name__
    return [f"shape {seed}, {name}, {kernels}: {what} on undefined memory" for what, found in summary.items() if found]


def undefined(memcheck: Any, array: np.ndarray) -> bool:
    return bool(memcheck.memcheck_undefined(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40))
