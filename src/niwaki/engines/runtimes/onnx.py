"""ONNX Runtime on the CPU: the default for deployment; int8 weights run as integer products."""

import os
import threading
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from niwaki.answers._search import write
from niwaki.core.errors import Refused, first_line
from niwaki.engines.exits import NOTHING, Padded
from niwaki.engines.graph_rules import DECODER, ENCODER, GRAPH, STRETCH, WEIGHTS, check_graph
from niwaki.engines.runtime import Runtime
from niwaki.engines.writing import GraphSteps, search_of

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"  # from 1.29 on, official builds else note models and tell them to their maker


class Onnx(Runtime):
    """One session, one thread a call; the predictor runs several batches at once. On two cores that was as fast as splitting
    each product between them (docs/results.md), and callers with threads of their own do not fight for cores."""

    leaves: ClassVar[bool] = True
    writes: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, threads)
        self.search = None if (folder / GRAPH).is_file() else search_of(folder)
        self.session = opened(folder, GRAPH if self.search is None else ENCODER)
        self.decoder = None if self.search is None else opened(folder, DECODER)
        self.inputs = [entry.name for entry in self.session.get_inputs()]
        if unknown := set(self.inputs) - {"ids", "mask", "types"}:
            raise Refused(f"{folder}: its graph reads '{min(unknown)[:60]}', which no model of niwaki does")
        self.reads_types = "types" in self.inputs
        self._opened: list[Any] = []
        self._opening = threading.Lock()

    @classmethod
    def fault(cls, folder: Path) -> str | None:
        there = any(all((folder / name).is_file() for name in names) for names in ((GRAPH,), (ENCODER, DECODER)))
        return None if there else f"{folder}: has no {GRAPH}; it was not saved by niwaki"

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        given = {"ids": ids, "mask": mask, "types": types}
        if self.search is not None:
            steps = GraphSteps(self.session, self.decoder, given, self.search.beam)
            return write(steps, len(ids), self.search)
        found = self.session.run(None, {name: given[name] for name in self.inputs})[0]
        if (
            found.dtype != np.float32
            or found.ndim not in (2, 3)
            or found.shape[: found.ndim - 1] != ids.shape[: found.ndim - 1]
        ):
            raise Refused(
                f"{self.folder / GRAPH}: its first output, {found.dtype} of shape {found.shape}, holds no logits"
            )
        return found

    def stretch(
        self, waiting: Padded, number: int, exits: list[int], alone: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        given = {"ids": waiting.start, "hidden": waiting.start, "mask": waiting.mask, "types": waiting.types}
        session = self._stretches(len(exits) + 1)[number]
        found = session.run(None, {entry.name: given[entry.name] for entry in session.get_inputs()})
        return found[0], found[1] if len(found) > 1 else NOTHING

    def _stretches(self, count: int) -> list[Any]:
        """The sessions of all stretches, in their order: graphs of their own, with the same weights. Opened when first asked for."""
        with self._opening:
            self._opened = self._opened or [opened(self.folder, STRETCH.format(number)) for number in range(count)]
            return self._opened


def opened(folder: Path, graph: str) -> Any:
    os.environ.setdefault(NO_TELEMETRY, "1")  # asked when it is imported
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    check_graph(folder, graph, WEIGHTS)
    try:
        return onnxruntime.InferenceSession(str(folder / graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - onnxruntime's exceptions share no base class of their own
        raise Refused(f"{folder / graph}: cannot be loaded by ONNX Runtime ({first_line(error)})") from None
