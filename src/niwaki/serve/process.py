"""A worker process as the web process sees it: start, send a batch, read the heartbeat, end."""

import multiprocessing
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Protocol

from niwaki.core.errors import NiwakiError
from niwaki.core.json_types import Json
from niwaki.serve.jobs import BatchResult
from niwaki.serve.worker import Beat, ModelSource, run_worker

END_SECONDS = 2.0  # for a worker to end after its pipe was closed


class WorkerDied(Exception):
    """The worker ended before it returned what was expected."""


class Worker(Protocol):
    """What the dispatcher needs of a worker; tests replace it by one without a process."""

    about: Json

    def send(self, model: str, inputs: Sequence[object]) -> None: ...
    def receive(self, seconds: float) -> BatchResult | None: ...
    def silent_seconds(self) -> float: ...
    def is_alive(self) -> bool: ...
    def end(self, at_once: bool = False) -> None: ...


class WorkerProcess:
    """A started process whose models are loaded. The constructor raises what loading them raised."""

    def __init__(
        self, sources: Sequence[ModelSource], engine: str = "auto", threads: int = 0, cache_bytes: int = 0
    ) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks of this process
        self._beat: Beat = context.RawValue("d", time.monotonic())
        self._pipe, child = context.Pipe()
        arguments = (child, self._beat, sources, engine, threads, cache_bytes)
        self._process = context.Process(target=run_worker, args=arguments, daemon=True, name="niwaki-worker")
        self._process.start()
        child.close()
        try:
            ready = _received(self._pipe)
        except WorkerDied:
            self.end(at_once=True)
            raise NiwakiError(
                f"the worker ended with code {self._process.exitcode} while it loaded the models"
            ) from None
        if isinstance(ready, NiwakiError):
            self.end()
            raise ready
        assert isinstance(ready, dict)
        self.about: Json = ready

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def send(self, model: str, inputs: Sequence[object]) -> None:
        try:
            self._pipe.send((model, list(inputs)))
        except (BrokenPipeError, ConnectionResetError):
            raise WorkerDied from None

    def receive(self, seconds: float) -> BatchResult | None:
        """The answers to the batch that was sent; None if they are not there in time."""
        try:
            if not self._pipe.poll(seconds):
                return None
        except (BrokenPipeError, ConnectionResetError):
            raise WorkerDied from None
        found = _received(self._pipe)
        assert isinstance(found, BatchResult)
        return found

    def silent_seconds(self) -> float:
        """Time since the worker's loop last showed that it runs."""
        return max(0.0, time.monotonic() - self._beat.value)

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self, at_once: bool = False) -> None:
        if not at_once:
            self._pipe.close()  # its loop sees the end
            self._process.join(END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _received(pipe: Connection) -> object:
    try:
        return pipe.recv()
    except (EOFError, ConnectionResetError, BrokenPipeError):
        raise WorkerDied from None
