"""A thread that notices when another process of a run hangs or loses its connection. A process that ends is noticed at once, by its
broken connections; a stopped machine or a cut cable breaks none.

Every process counts up a number in the store that the launcher gives them. The first process watches all others, and these watch the first.
"""

import os
import sys
import threading
import time
import uuid
from datetime import timedelta

from torch.distributed import Store

BEAT_SECONDS = 0.5
SILENT_SECONDS = 2.0  # without a beat: the one to name when a connection breaks
LOST_SECONDS = 20.0  # without a beat: the run ends
GRACE_SECONDS = 6.0  # for a checkpoint, when another process has failed
OUT_OF_REACH = "the first process, or the launcher, is out of reach"
FAILURE = "failure"  # key of the exit code of the process that fails first


class Heartbeat:
    def __init__(self, store: Store, own: int, world: int) -> None:
        self.store, self.own, self.world = store, own, world
        self.store.set_timeout(timedelta(seconds=LOST_SECONDS))
        self._closed = threading.Event()
        self._seen: dict[int, tuple[bytes, float]] = {}  # last beat, and when it was new
        self._beat_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True, name="niwaki-heartbeat")
        self._thread.start()
        threading.Thread(target=self._guard, daemon=True, name="niwaki-heartbeat-guard").start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(2 * BEAT_SECONDS)

    def silent(self) -> list[int]:
        """Watched processes that have not shown a sign of life for a moment."""
        now = time.monotonic()
        return [process for process, (_, at) in self._seen.items() if now - at > SILENT_SECONDS]

    def _run(self) -> None:
        beats = 0
        while not self._closed.wait(BEAT_SECONDS):
            if time.monotonic() - self._beat_at > 4 * BEAT_SECONDS:  # stopped, so it knows nothing of the others
                self._seen.clear()
            self._beat_at, beats = time.monotonic(), beats + 1
            try:
                self.store.set(f"beat/{self.own}", str(beats))
                self._look()
                failed = self.store.check([FAILURE])
            except RuntimeError:
                self._end(OUT_OF_REACH, 1)
                return
            if failed:
                self._end("", failure_code(self.store))
                return

    def _guard(self) -> None:
        """Notices that the store does not answer: its calls have no time limit where the network is cut."""
        before = time.monotonic()
        while not self._closed.wait(BEAT_SECONDS):
            now = time.monotonic()
            if now - before > 4 * BEAT_SECONDS:  # this process was stopped
                self._beat_at = now
            before = now
            if now - self._beat_at > LOST_SECONDS:
                _report(OUT_OF_REACH)
                os._exit(1)

    def _look(self) -> None:
        now = time.monotonic()
        for process in range(self.world) if self.own == 0 else [0]:
            key = f"beat/{process}"
            if process == self.own or not self.store.check([key]):
                continue
            beat = self.store.get(key)
            if process not in self._seen or self._seen[process][0] != beat:
                self._seen[process] = beat, now
            elif now - self._seen[process][1] > LOST_SECONDS:
                self._end(f"process {process} of {self.world} has not answered for {LOST_SECONDS:.0f} s", 1)

    def _end(self, reason: str, code: int) -> None:
        """Ends this process, unless it comes to an end by itself. Everything on disk is complete at any time."""
        if self._closed.wait(0.0 if reason else GRACE_SECONDS):
            return
        if reason and announce_failure(self.store, code):
            _report(reason)
        os._exit(code)


def _report(reason: str) -> None:
    sys.stderr.write(f"niwaki: {reason}; what was saved is kept, the same command goes on from there\n")
    sys.stderr.flush()


def announce_failure(store: Store, code: int) -> bool:
    """Whether this process is the first to fail, and should say why."""
    mark = f"{code} {uuid.uuid4().hex}"
    try:
        return store.compare_set(FAILURE, "", mark) == mark.encode()
    except RuntimeError:  # the store went with the first process
        return True


def failure_code(store: Store) -> int:
    """The exit code of the process that failed first."""
    return int(store.get(FAILURE).split()[0])
