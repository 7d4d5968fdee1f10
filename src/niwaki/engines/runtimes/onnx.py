"""ONNX Runtime on the CPU: the default for deployment; int8 weights run as integer products."""

import os
import threading
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from niwaki.answers._beam_search import beam_search
from niwaki.core.errors import InputError, first_line
from niwaki.engines.exits import NOTHING, PaddedBatch
from niwaki.engines.generation import GraphSteps, search_of
from niwaki.engines.graph_rules import DECODER, ENCODER, EXIT_GRAPH, GRAPH, WEIGHTS, check_graph
from niwaki.engines.runtime import Runtime

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"  # from 1.29 on, official builds else note models and tell them to their maker


class Onnx(Runtime):
    """One session, one thread a call; the predictor runs several batches at once. On two cores that was as fast as splitting
    each product between them (docs/results.md), and callers with threads of their own do not fight for cores."""

    supports_early_exit: ClassVar[bool] = True
    supports_seq2seq: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, threads)
        self.search = None if (folder / GRAPH).is_file() else search_of(folder)
        self.session = open_session(folder, GRAPH if self.search is None else ENCODER)
        self.decoder = None if self.search is None else open_session(folder, DECODER)
        self.inputs = [entry.name for entry in self.session.get_inputs()]
        if unknown := set(self.inputs) - {"ids", "mask", "types"}:
            raise InputError(f"{folder}: its graph reads '{min(unknown)[:60]}', which no model of niwaki does")
        self.reads_types = "types" in self.inputs
        self._opened: list[Any] = []
        self._opening = threading.Lock()

    @classmethod
    def unsupported_reason(cls, folder: Path) -> str | None:
        there = any(all((folder / name).is_file() for name in names) for names in ((GRAPH,), (ENCODER, DECODER)))
        return None if there else f"{folder}: has no {GRAPH}; it was not saved by niwaki"

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        given = {"ids": ids, "mask": mask, "types": types}
        if self.search is not None:
            steps = GraphSteps(self.session, self.decoder, given, self.search.beam)
            return beam_search(steps, len(ids), self.search)
        found = self.session.run(None, {name: given[name] for name in self.inputs})[0]
        if (
            found.dtype != np.float32
            or found.ndim not in (2, 3)
            or found.shape[: found.ndim - 1] != ids.shape[: found.ndim - 1]
        ):
            raise InputError(
                f"{self.folder / GRAPH}: its first output, {found.dtype} of shape {found.shape}, holds no logits"
            )
        return found

    def run_layers(
        self, waiting: PaddedBatch, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        given = {"ids": waiting.start, "hidden": waiting.start, "mask": waiting.mask, "types": waiting.types}
        session = self._exit_sessions(len(exits) + 1)[number]
        found = session.run(None, {entry.name: given[entry.name] for entry in session.get_inputs()})
        return found[0], found[1] if len(found) > 1 else NOTHING

    def _exit_sessions(self, count: int) -> list[Any]:
        """The sessions of all stretches, in their order: graphs of their own, with the same weights. Opened when first asked for."""
        with self._opening:
            self._opened = self._opened or [
                open_session(self.folder, EXIT_GRAPH.format(number)) for number in range(count)
            ]
            return self._opened


def open_session(folder: Path, graph: str) -> Any:
    os.environ.setdefault(NO_TELEMETRY, "1")  # asked when it is imported
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    check_graph(folder, graph, WEIGHTS)
    try:
        return onnxruntime.InferenceSession(str(folder / graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - onnxruntime's exceptions share no base class of their own
        raise InputError(f"{folder / graph}: cannot be loaded by ONNX Runtime ({first_line(error)})") from None
