"""The scheduler: runs encoded inputs through an engine in batches of similar length, several at a time on threads."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.data.batching import in_order
from niwaki.engines.exits import ExitRule, run_with_exits
from niwaki.engines.runtime import EarlyExitRuntime, Runtime

Result = TypeVar("Result")
Reduce = Callable[[np.ndarray, EncodedInputs, np.ndarray], np.ndarray]  # as `answers/_capabilities.py` describes it


class NotFinite(InputError):
    """A model whose logits are NaN or infinite."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"{folder}: its logits are not finite (NaN or infinity); its weights are damaged or its training diverged: use another copy, or train it again"
        )


class Scheduler:
    """Logits in the order of the inputs. `labels` is the number of logits per row, None if the engine generates text; `reduce` makes
    numbers for each sequence of the logits of a batch."""

    def __init__(
        self, runtime: Runtime, pad_id: int, labels: int | None, per_token: bool, reduce: Reduce | None = None
    ) -> None:
        self.runtime, self.pad_id = runtime, pad_id
        self.labels, self.per_token, self.reduce = labels, per_token, reduce

    def logits(self, encoded: EncodedInputs) -> np.ndarray:
        """(sequences, labels), or (tokens of all sequences, labels) from a token head; all finite."""
        lengths = encoded.lengths
        if not len(lengths):
            return np.zeros((0, self.labels or 0), dtype=np.float32)
        if len(lengths) == 1:  # the fast path of a single request
            return self.checked(self._run(encoded, np.zeros(1, dtype=np.int64), use_all_threads=True))
        batches = self.runtime.batches(lengths)
        parts = self._map(partial(self._run, encoded), batches)
        per_token = self.per_token and self.reduce is None
        return self.checked(in_order(zip(batches, parts, strict=True), lengths, per_token))

    def logits_with_exits(
        self, encoded: EncodedInputs, exits: list[int], stops: ExitRule
    ) -> tuple[np.ndarray, np.ndarray]:
        """(sequences, labels) logits of the exit that each sequence took, and the number of that exit."""
        batches = self.runtime.batches(encoded.lengths) if len(encoded.lengths) else []
        logits = np.zeros((len(encoded.lengths), self.labels or 0), dtype=np.float32)
        taken = np.zeros(len(encoded.lengths), dtype=np.int64)
        runtime = self.runtime
        assert isinstance(runtime, EarlyExitRuntime)  # `cascade.engine_with_exits`

        def run(chosen: np.ndarray, use_all_threads: bool) -> tuple[np.ndarray, np.ndarray]:
            step = partial(runtime.run_layers, exits=exits, use_all_threads=use_all_threads)
            return run_with_exits(runtime.start_layers(encoded, chosen, self.pad_id), len(exits), step, stops)

        for chosen, (found, numbers) in zip(batches, self._map(run, batches), strict=True):
            logits[chosen], taken[chosen] = found, numbers
        return self.checked(logits), taken

    def _map(self, run: Callable[[np.ndarray, bool], Result], batches: list[np.ndarray]) -> Iterator[Result]:
        """Runs each batch on a thread of its own; a single batch runs here and may use all threads itself."""
        if len(batches) == 1:
            return iter([run(batches[0], True)])
        return self._pool.map(lambda chosen: run(chosen, False), batches)

    def _run(self, encoded: EncodedInputs, chosen: np.ndarray, use_all_threads: bool) -> np.ndarray:
        found = self.runtime.run(encoded, chosen, self.pad_id, use_all_threads)
        rows = int(encoded.lengths[chosen].sum()) if self.per_token else len(chosen)
        expected = (rows, found.shape[-1] if self.labels is None else self.labels)
        if found.shape != expected:
            raise InputError(
                f"{self.runtime.folder}: its graph gives logits of shape {found.shape} instead of {expected}; it belongs to another model"
            )
        return found if self.reduce is None else self.reduce(found, encoded, chosen)

    def checked(self, logits: np.ndarray) -> np.ndarray:
        """Rejects NaN, which would read as the first label and is not valid JSON."""
        if not np.isfinite(logits).all():
            raise NotFinite(self.runtime.folder)
        return logits

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        _with_threads.add(self)
        return ThreadPoolExecutor(self.runtime.threads, thread_name_prefix="niwaki")


_with_threads: WeakSet[Scheduler] = WeakSet()


def _discard_threads() -> None:
    """A forked child has none of its parent's threads, and a pool that expects them would wait forever."""
    for scheduler in list(_with_threads):
        scheduler.__dict__.pop("_pool", None)


os.register_at_fork(after_in_child=_discard_threads)
