"""OpenVINO on the CPU: runs any graph that niwaki writes; 8-bit weights run as integer products on processors with VNNI."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ClassVar

import numpy as np

from niwaki.core.errors import InputError, first_line
from niwaki.core.extras import install_command
from niwaki.core.head_folder import is_head_folder
from niwaki.engines.graph_rules import DECODER, GRAPH, graph_name
from niwaki.engines.openvino_model import read_openvino_model
from niwaki.engines.runtime import Arrays, Runtime

TELEMETRY_MODULE = "openvino_telemetry"
GROUP_SIZES = (
    128,
    64,
    32,
    16,
)  # inputs that share a scale: larger groups are faster, and no row may be shorter than a group


class OpenVino(Runtime):
    """One compiled model for all shapes, and one stream per thread, each running a batch on one core. Further callers wait.

    Floats are multiplied in 32 bits. By default OpenVINO uses bf16 if the processor has it; the same file would then give other
    logits on another machine, and the export gate would not hold there."""

    preference: ClassVar[int | None] = 3
    package: ClassVar[str] = "openvino"
    is_optional: ClassVar[bool] = True  # it reads fewer graphs than ONNX Runtime

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, threads)
        core = _core()
        model, widths = read_openvino_model(folder, core)
        self.needs_equal_lengths = any(node.get_type_name() == "LSTMSequence" for node in model.get_ops())
        self.quantized_products = len(widths)
        self.group_size = group_size_for(widths) if widths and multiplies_integers() else 0  # 0: inputs are not rounded
        self.integer_products = sum(width >= self.group_size for width in widths) if self.group_size else 0
        options = {
            "INFERENCE_PRECISION_HINT": "f32",
            "NUM_STREAMS": threads,
            "INFERENCE_NUM_THREADS": threads,
            "ENABLE_CPU_PINNING": False,
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": self.group_size,
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
    def unsupported_reason(cls, folder: Path) -> str | None:
        if (folder / DECODER).is_file():
            return cls.generation_unsupported(folder)
        if not (folder / graph_name(folder)).is_file():
            return f"{folder}: has no {GRAPH}; it was not saved by niwaki"
        if is_head_folder(folder):
            return f"{folder}: openvino runs no head that shares a trunk; `niwaki export {folder} --to openvino` writes a model of its own"
        return cls.missing_requirement()

    @property
    def remark(self) -> str:
        if self.integer_products == self.quantized_products:
            return ""
        why = f"rows of fewer than {self.group_size} inputs" if self.group_size else "this processor lacks VNNI"
        return f"openvino: {self.quantized_products - self.integer_products} of {self.quantized_products} matrices with 8-bit weights are multiplied as floats ({why}): smaller, but not faster"

    def batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """As other engines; with LSTMs, batches of one length, because OpenVINO's backward LSTM starts at the padding."""
        found = super().batches(lengths)
        if not self.needs_equal_lengths:
            return found
        return [part for rows in found for part in np.split(rows, np.flatnonzero(np.diff(lengths[rows])) + 1)]

    def logits(self, arrays: Arrays) -> np.ndarray:
        self._reject_fork()
        request = self.free.get()
        try:
            request.infer({name: arrays[name] for name in self.inputs})
            found = request.get_output_tensor(0).data.copy()  # the next call overwrites its memory
        except RuntimeError as error:
            raise InputError(f"{self.folder / GRAPH}: cannot be run by OpenVINO ({first_line(error)})") from None
        finally:
            self.free.put(request)
        shape = arrays["attention_mask"].shape
        if found.ndim not in (2, 3) or found.shape[: found.ndim - 1] != shape[: found.ndim - 1]:
            raise InputError(
                f"{self.folder / GRAPH}: gives {found.shape} for inputs of {shape}; it was not written by niwaki"
            )
        return found

    def _reject_fork(self) -> None:
        """OpenVINO's threads exist only in the process that loaded it: a forked one would wait forever."""
        if os.getpid() != self.process:
            raise InputError(
                f"{self.folder}: was loaded by OpenVINO in process {self.process} and cannot be used in a forked one; load it after the fork, or use engine 'onnx' or 'native'"
            )


def group_size_for(widths: Sequence[int]) -> int:
    """The number of inputs that share a scale, so that every product can use integers; rows shorter than the smallest size stay
    floats."""
    least = min((width for width in widths if width >= GROUP_SIZES[-1]), default=GROUP_SIZES[-1])
    return next(size for size in GROUP_SIZES if size <= least)


@cache
def _core() -> Any:
    with _without_telemetry():
        try:
            import openvino
        except ImportError as error:
            raise InputError(
                f"openvino engine: cannot be imported ({first_line(error)}); {install_command('openvino')}"
            ) from None
    return openvino.Core()


@contextmanager
def _without_telemetry() -> Iterator[None]:
    """Hides the package through which OpenVINO reports its import to Intel and stores a user id in the home folder."""
    imported = {name: module for name, module in sys.modules.items() if name == TELEMETRY_MODULE}
    sys.modules[TELEMETRY_MODULE] = None  # type: ignore[assignment]  # Python then treats the module as missing
    try:
        yield
    finally:
        del sys.modules[TELEMETRY_MODULE]
        sys.modules.update(imported)


@cache
def multiplies_integers() -> bool:
    """Whether this processor multiplies 8-bit weights as integers, tested with a product whose sum differs."""
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
    return bool(found.shape == row.shape and abs(found - 127).max() < 1)  # 131.5 if 0.3 was not rounded
