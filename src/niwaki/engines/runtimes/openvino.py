"""OpenVINO on the CPU: for any graph that niwaki writes; 8-bit weights run as integer products where the processor has VNNI."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ClassVar

import numpy as np

from niwaki.core.errors import InputError, first_line
from niwaki.engines.graph_rules import DECODER, GRAPH
from niwaki.engines.openvino_model import read_openvino_model
from niwaki.engines.runtime import Arrays, Runtime

MENDING = 'pip install "niwaki[openvino]"'
TELEMETRY = "openvino_telemetry"
GROUPS = (128, 64, 32, 16)  # inputs that share a scale: larger ones are faster, and no row may be shorter than one


class OpenVino(Runtime):
    """One compiled model for all shapes, and for each thread a stream of its own that runs a batch on one core: as many callers as
    there are threads are served at once, others wait.

    Floats are multiplied in 32 bits. Left to itself OpenVINO takes bf16 where the processor has it, so that the same file would
    answer otherwise on another machine, and no gate held what was measured here."""

    preference: ClassVar[int | None] = 3
    package: ClassVar[str] = "openvino"
    is_optional: ClassVar[bool] = True  # it reads fewer graphs than ONNX Runtime

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, threads)
        core = _core()
        model, widths = read_openvino_model(folder, core)
        self.even = any(node.get_type_name() == "LSTMSequence" for node in model.get_ops())
        self.packed = len(widths)
        self.group = group_of(widths) if widths and rounds_inputs() else 0  # 0: no inputs are rounded
        self.in_bytes = sum(width >= self.group for width in widths) if self.group else 0
        options = {
            "INFERENCE_PRECISION_HINT": "f32",
            "NUM_STREAMS": threads,
            "INFERENCE_NUM_THREADS": threads,
            "ENABLE_CPU_PINNING": False,
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": self.group,
        }
        try:
            self.compiled = core.compile_model(model, "CPU", options)
        except RuntimeError as error:
            raise InputError(f"{folder / GRAPH}: cannot be loaded by OpenVINO ({first_line(error)})") from None
        self.process = os.getpid()
        self.inputs = tuple(entry.any_name for entry in self.compiled.inputs)
        self.free: SimpleQueue[Any] = SimpleQueue()
        for _ in range(threads):
            self.free.put(self.compiled.create_infer_request())

    @classmethod
    def missing_requirement(cls) -> str | None:
        return None if find_spec("openvino") else f"openvino engine: the package is not installed; {MENDING}"

    @classmethod
    def unsupported_reason(cls, folder: Path) -> str | None:
        if (folder / DECODER).is_file():
            return cls.generation_unsupported(folder)
        if not (folder / GRAPH).is_file():
            return f"{folder}: has no {GRAPH}; it was not saved by niwaki"
        return cls.missing_requirement()

    @property
    def remark(self) -> str:
        if self.in_bytes == self.packed:
            return ""
        why = f"rows of fewer than {self.group} inputs" if self.group else "this processor lacks VNNI"
        return f"openvino: {self.packed - self.in_bytes} of {self.packed} matrices of 8-bit weights are multiplied as floats ({why}): as small, no faster"

    def batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """As others do; where there are LSTMs, of one length each: OpenVINO's read texts backwards from the end of their padding."""
        found = super().batches(lengths)
        if not self.even:
            return found
        return [part for rows in found for part in np.split(rows, np.flatnonzero(np.diff(lengths[rows])) + 1)]

    def logits(self, arrays: Arrays) -> np.ndarray:
        self._refuse_fork()
        request = self.free.get()
        try:
            request.infer({name: arrays[name] for name in self.inputs})
            found = request.get_output_tensor(0).data.copy()  # whose memory the next call writes to
        except RuntimeError as error:
            raise InputError(f"{self.folder / GRAPH}: cannot be run by OpenVINO ({first_line(error)})") from None
        finally:
            self.free.put(request)
        shape = arrays["input_ids"].shape
        if found.ndim not in (2, 3) or found.shape[: found.ndim - 1] != shape[: found.ndim - 1]:
            raise InputError(
                f"{self.folder / GRAPH}: gives {found.shape} for inputs of {shape}; it is not what niwaki wrote"
            )
        return found

    def _refuse_fork(self) -> None:
        """Its threads are OpenVINO's own and live in the process that loaded it: another would wait for ever."""
        if os.getpid() != self.process:
            raise InputError(
                f"{self.folder}: was loaded by OpenVINO in process {self.process}, and does not live on in a forked one; load it after the fork, or take engine 'onnx' or 'native'"
            )


def group_of(widths: Sequence[int]) -> int:
    """How many neighbours of a row of inputs share a scale, so that every product can be one of integers; rows shorter than the
    smallest group stay floats."""
    least = min((width for width in widths if width >= GROUPS[-1]), default=GROUPS[-1])
    return next(group for group in GROUPS if group <= least)


@cache
def _core() -> Any:
    with _untold():
        try:
            import openvino
        except ImportError as error:
            raise InputError(f"openvino engine: cannot be imported ({first_line(error)}); {MENDING}") from None
    return openvino.Core()


@contextmanager
def _untold() -> Iterator[None]:
    """OpenVINO tells its maker when it is imported, and numbers the user below their home; where the package that does so is missing,
    it does not."""
    there = {name: module for name, module in sys.modules.items() if name == TELEMETRY}
    sys.modules[TELEMETRY] = None  # type: ignore[assignment]  # to Python: is not there
    try:
        yield
    finally:
        del sys.modules[TELEMETRY]
        sys.modules.update(there)


@cache
def rounds_inputs() -> bool:
    """Whether products with 8-bit weights are of integers on this processor, tried on one whose sum tells."""
    import openvino
    from openvino import opset13

    given = opset13.parameter([-1, 16], np.float32)
    ones = opset13.convert(opset13.constant(np.ones((16, 16), np.int8)), np.float32)
    weight = opset13.multiply(ones, opset13.constant(np.ones((1, 16), np.float32)))
    model = openvino.Model([opset13.matmul(given, weight, False, False)], [given], "trial")
    options = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 16, "INFERENCE_NUM_THREADS": 1}
    row = np.array([[127.0, *[0.3] * 15]] * 32, dtype=np.float32)
    compiled = _core().compile_model(model, "CPU", options)
    found = compiled([row])[0]
    return bool(found.shape == row.shape and abs(found - 127).max() < 1)  # 131.5 where 0.3 was not rounded
