"""Uninitialized and invalid reads of the training kernels, under valgrind: `make sanitize` builds them over emulated instructions and runs
this.

    NIWAKI_TRAINING_KERNELS=library valgrind [...] python -m models.fused.memcheck [shapes]

New tensors and scratch memory are undefined for memcheck. Whatever the kernels decide by, or hand out, must not depend on them.
"""

import ctypes
import sys

import torch

from models.fused.shapes import Drawn, results
from niwaki.models.fused import library

THREADS = (1, 3)


class FreshScratch(dict[str, torch.Tensor]):
    """Each call gets new memory of exactly its size, so that valgrind sees where it ends."""

    def __contains__(self, name: object) -> bool:
        return False


class Checked:
    """The kernels, with the errors that memcheck counts while they run."""

    def __init__(self, kernels: ctypes.CDLL) -> None:
        self.kernels, self.errors = kernels, 0

    def __getattr__(self, name: str) -> object:
        kernel = getattr(self.kernels, name)

        def checked(*given: object) -> None:
            before = self.kernels.memcheck_errors()
            kernel(*given)
            self.errors += self.kernels.memcheck_errors() - before

        return checked


def main(shapes: int) -> int:
    kernels = library.library()
    if kernels is None or not hasattr(kernels, "memcheck_runs") or not kernels.memcheck_runs():
        sys.exit(
            "memcheck: NIWAKI_TRAINING_KERNELS must name kernels built with memcheck.c, and valgrind must run this; use `make sanitize`"
        )
    kernels.memcheck_undefined.restype = ctypes.c_size_t
    library.library = lambda: checked  # type: ignore[assignment]
    checked, faults = Checked(kernels), list[str]()
    for seed in range(shapes):
        faults += faults_of(checked, Drawn(seed))
    summary = f"memcheck: {shapes} calls of the training kernels: {len(faults)} faults"
    sys.stderr.write("\n".join([*faults, summary]) + "\n")
    return 1 if faults else 0


def faults_of(checked: Checked, drawn: Drawn) -> list[str]:
    faults: list[str] = []
    for threads in THREADS:
        torch.set_num_threads(threads)
        library._local.buffers, before = FreshScratch(), checked.errors
        with torch.autocast("cpu", torch.bfloat16):
            found = results(drawn, drawn.own)
        if checked.errors > before:
            faults.append(f"shape {drawn.seed}, {drawn.kernel}: an invalid access, or a decision on undefined memory")
        if any(undefined(checked.kernels, one.contiguous()) for one in found):
            faults.append(f"shape {drawn.seed}, {drawn.kernel}: outputs depend on undefined memory")
    return faults


def undefined(kernels: ctypes.CDLL, tensor: torch.Tensor) -> bool:
    size = ctypes.c_size_t(tensor.numel() * tensor.element_size())
    return bool(kernels.memcheck_undefined(ctypes.c_void_p(tensor.data_ptr()), size))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 90))
