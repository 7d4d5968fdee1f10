"""ONNX Runtime on the CPU: the default for deployment; int8 weights run as integer products."""

import os
from pathlib import Path

import numpy as np

from niwaki.core.errors import Refused, first_line
from niwaki.engines.graph_rules import check_graph
from niwaki.engines.runtime import Runtime

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"  # from 1.29 on, official builds else note models and tell them to their maker
GRAPH, WEIGHTS = "model.onnx", "model.safetensors"


class Onnx(Runtime):
    """One session, one thread a call; the predictor runs several batches at once. On two cores that was as fast as splitting
    each product between them (docs/results.md), and callers with threads of their own do not fight for cores."""

    def __init__(self, folder: Path, threads: int) -> None:
        os.environ.setdefault(NO_TELEMETRY, "1")  # asked when it is imported
        import onnxruntime

        super().__init__(folder, threads)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        check_graph(folder, GRAPH, WEIGHTS)
        try:
            self.session = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001 - onnxruntime's exceptions share no base class of their own
            raise Refused(f"{folder / GRAPH}: cannot be loaded by ONNX Runtime ({first_line(error)})") from None
        self.inputs = [entry.name for entry in self.session.get_inputs()]

    @classmethod
    def fault(cls, folder: Path) -> str | None:
        return None if (folder / GRAPH).is_file() else f"{folder}: has no {GRAPH}; it was not saved by niwaki"

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        given = {"ids": ids, "mask": mask, "types": types}
        return self.session.run(None, {name: given[name] for name in self.inputs})[0]
