"""ONNX Runtime on the CPU: the default for deployment; int8 weights run as integer products."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from niwaki.answers._forced_decoding import generate_or_score, hypotheses_of
from niwaki.core.errors import InputError
from niwaki.engines.exits import NO_HIDDEN_STATES, ActiveBatch, PaddedBatch
from niwaki.engines.generation import GraphSteps, search_of
from niwaki.engines.graph_rules import DECODER, ENCODER, EXIT_GRAPH, GRAPH, graph_name
from niwaki.engines.onnx_session import input_names, open_session
from niwaki.engines.runtime import KNOWN_INPUTS, Arrays, EarlyExitRuntime

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


class Onnx(EarlyExitRuntime):
    """One session that uses one thread per call; the scheduler runs several batches at once. On two cores that was as fast as
    splitting each product between them (docs/results/predicting.md), and callers with threads of their own do not compete for cores."""

    preference: ClassVar[int | None] = 1
    package: ClassVar[str] = "onnxruntime"
    supports_seq2seq: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, threads)
        graph = graph_name(folder)
        self.search = None if (folder / graph).is_file() else search_of(folder)
        self.generates = self.search is not None
        self.session = open_session(folder, ENCODER if self.generates else graph)
        self.decoder = open_session(folder, DECODER) if self.generates else None
        self.inputs = input_names(self.session)
        self.output = self.session.get_outputs()[0].name  # of a bare encoder, a second one holds token embeddings
        if unknown := set(self.inputs) - KNOWN_INPUTS:
            raise InputError(
                f"{folder}: its graph has an input '{min(unknown)[:60]}' that niwaki does not provide; `niwaki export {folder} --to onnx` writes a new one"
            )
        self._exit_sessions: list[InferenceSession] = []
        self._opening = threading.Lock()

    @classmethod
    def unsupported_reason(cls, folder: Path) -> str | None:
        exported = any(
            all((folder / name).is_file() for name in names) for names in ((graph_name(folder),), (ENCODER, DECODER))
        )
        return None if exported else f"{folder}: has no {GRAPH}; it was not saved by niwaki"

    def logits(self, arrays: Arrays) -> np.ndarray:
        if self.search is not None and self.decoder is not None:
            steps = GraphSteps(self.session, self.decoder, arrays, hypotheses_of(arrays, self.search))
            return generate_or_score(steps, arrays, self.search)
        logits: np.ndarray = self.session.run([self.output], {name: arrays[name] for name in self.inputs})[0]
        leading = logits.ndim - 1
        if (
            logits.dtype != np.float32
            or leading not in (1, 2)
            or logits.shape[:leading] != arrays["attention_mask"].shape[:leading]
        ):
            raise InputError(
                f"{self.folder / GRAPH}: its first output, {logits.dtype} of shape {logits.shape}, holds no logits"
            )
        return logits

    def run_layers(
        self, batch: ActiveBatch, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        assert isinstance(batch, PaddedBatch)
        session = self._open_exits(len(exits) + 1)[number]
        found = session.run(None, {name: batch.arrays[name] for name in input_names(session)})
        return found[0], found[1] if len(found) > 1 else NO_HIDDEN_STATES

    def _open_exits(self, count: int) -> "list[InferenceSession]":
        """The sessions of all layer ranges, opened at the first call: separate graphs that share the weights."""
        with self._opening:
            if not self._exit_sessions:
                names = [EXIT_GRAPH.format(number) for number in range(count)]
                self._exit_sessions = [open_session(self.folder, name) for name in names]
            return self._exit_sessions
