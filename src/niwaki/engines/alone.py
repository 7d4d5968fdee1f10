"""A teacher's insides, each text read alone: what it says of a text then depends on no other text and no padding.

So what was kept, and what is asked anew, are the same to the bit. On CPUs this is as fast as batches of padded texts in
torch (docs/results.md), because ONNX Runtime spends little per call and the texts share the cores.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np

from niwaki.engines.export import INPUTS, graph_of
from niwaki.models.insides import LOGITS, Insides
from niwaki.models.model import Model

AHEAD = 64  # sequences in work at a time: few enough that their insides fit in memory


class Alone:
    """Sequences (ids, types) to their insides by name. Nothing is made before the first is asked for."""

    def __init__(self, model: Model, names: Iterable[str], threads: int) -> None:
        self.model, self.names, self.threads = model, sorted(set(names) - {LOGITS}), threads
        self._session = None

    def __call__(self, sequences: Iterable[tuple[np.ndarray, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
        session = self._session = self._session or self._start()
        with ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki") as pool:
            rest = iter(sequences)
            while some := list(islice(rest, AHEAD)):
                yield from pool.map(lambda one: self._run(session, *one), some)

    def _run(self, session, ids: np.ndarray, types: np.ndarray) -> dict[str, np.ndarray]:  # type: ignore[no-untyped-def]
        given = {"ids": ids, "mask": np.ones_like(ids), "types": types}
        wanted = {entry.name for entry in session.get_inputs()}
        found = session.run(None, {name: given[name][None].astype(np.int64) for name in INPUTS if name in wanted})
        return {name: part[0] for name, part in zip([LOGITS, *self.names], found, strict=True)}

    def _start(self):  # type: ignore[no-untyped-def]
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        insides = Insides(self.model.network, self.model.anatomy, self.names)
        graph = graph_of(insides, self.model.anatomy.uses_types, [LOGITS, *self.names])
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
