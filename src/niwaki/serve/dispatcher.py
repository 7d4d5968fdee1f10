"""The dispatcher: a thread that takes batches from the queue, hands them to the worker and gives the answers back.

It also replaces the worker: when it died, when it is stuck, and between two batches when other models were loaded.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from niwaki.core.errors import NiwakiError, first_line
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.serve.batching import BatchQueue, QueueFull, Request, Slice
from niwaki.serve.jobs import Job, ServeError, distribute, text_length
from niwaki.serve.pace import Pace
from niwaki.serve.process import Worker, WorkerDied
from niwaki.serve.settings import ServeSettings

LOOK_SECONDS = 0.05  # between two looks at a worker that computes
SILENCE_SECONDS = 0.8  # without a heartbeat, a worker that should wait for work is stuck
JOIN_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # between two attempts to start a worker; it doubles


@dataclass
class Counts:
    """What happened since the start, for metrics."""

    restarts: int = 0
    reloads: int = 0
    batches: int = 0
    texts: int = 0


class Dispatcher:
    """Owns queue and worker. `submit` and `cancel` may be called from any thread."""

    def __init__(self, start_worker: Callable[[], Worker], settings: ServeSettings) -> None:
        self.settings, self._start_worker = settings, start_worker
        self.queue = BatchQueue(settings.queue_requests, max_tokens=1 << 62)  # bounded by time: see `wait_seconds`
        self.paces: dict[str, Pace] = {}
        self.about: Json = {}  # what the last worker stated about its models
        self.counts = Counts()
        self.worker: Worker | None = None
        self.state = "starting"
        self.on_batch: Callable[[str, Sequence[Slice], float, float | None], None] = (
            lambda model, batch, seconds, joules: None
        )
        self._next: Worker | None = None
        self._computing: tuple[str, int, float] | None = None  # model, tokens and start of the batch at the worker
        self._failures = 0  # workers that ended or did not start since the last batch
        self._lock = threading.Condition()
        self._loading = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="niwaki-dispatcher")

    def start(self) -> None:
        """Raises what loading the models raises."""
        self._use(self._start_worker())
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Puts a job into the queue, or raises ServeError 429 if it would wait too long."""
        with self._lock:
            wait = self.wait_seconds()
            late = wait + self.paces[job.model].expected_seconds(job.waiting_tokens) > job.deadline - time.monotonic()
            try:
                if len(self.queue) and (wait > self.settings.queue_seconds or late):
                    raise QueueFull
                job.queued_at = time.monotonic()
                self.queue.put(job)
            except QueueFull:
                raise overloaded(wait) from None
            self._lock.notify()

    def is_full(self) -> bool:
        """Whether the next request would be rejected: to reject it before its body is read. No lock, so it may be a request late."""
        return self.wait_seconds() > self.settings.queue_seconds or len(self.queue) >= self.settings.queue_requests

    def cancel(self, job: Job) -> bool:
        """Takes a job out that nobody waits for any more. What the worker computes already is computed to its end."""
        with self._lock:
            return self.queue.remove(job)

    def wait_seconds(self) -> float:
        """The time until everything that waits is computed, by the measured speeds."""
        waiting = list(self.queue.waiting_tokens.items())
        return sum(self.paces[model].expected_seconds(tokens) for model, tokens in waiting if model in self.paces)

    def silence(self) -> tuple[float, float]:
        """Seconds since the worker's last heartbeat, and how long it may be silent: longer if its batch is a long one."""
        worker, computing = self.worker, self._computing
        if worker is None:
            return 0.0, SILENCE_SECONDS
        expected = self.paces[computing[0]].expected_seconds(computing[1]) if computing else 0.0
        return worker.silent_seconds(), max(SILENCE_SECONDS, 4 * expected)

    def reload(self) -> None:
        """Loads the models anew in a second worker; it takes over between two batches. On an error the first one stays."""
        with self._loading:
            fresh = self._start_worker()
            with self._lock:
                self._next = fresh
                self._lock.notify()
                swapped = self._lock.wait_for(lambda: self._next is None, timeout=self.settings.timeout_seconds)
            if not swapped:
                raise NiwakiError("the worker did not finish its batch; the new models are used as soon as it does")

    def stop(self) -> None:
        """Ends the thread and the worker. Jobs that still wait get an error."""
        with self._lock:
            self.state = "stopped"
            self._lock.notify()
        if self._thread.is_alive():
            self._thread.join(JOIN_SECONDS)
        for worker in (self.worker, self._next):
            if worker is not None:
                worker.end()

    def _run(self) -> None:
        while self.state != "stopped":
            self._take_over()
            model, batch, late = self._next_batch()
            for job in late:
                job.finish(
                    ServeError(
                        429, "overloaded", "waited until its deadline and was not computed; try again later", 1.0
                    )
                )
            if batch:
                self._compute(model, batch)
            elif self.worker is not None and not self._is_working():
                self._replace("died" if not self.worker.is_alive() else "was stuck", ())
        with self._lock:
            left = self.queue.expire(float("inf"))
        for job in map(as_job, left):
            job.finish(ServeError(503, "stopping", "the server ends; ask another one"))

    def _next_batch(self) -> tuple[str, list[Slice], list[Job]]:
        """The next batch, and the jobs whose deadline passed. Both empty if nothing came for a while."""
        with self._lock:
            if not len(self.queue) and self._next is None and self.state != "stopped":
                self._lock.wait(LOOK_SECONDS)
            late = list(map(as_job, self.queue.expire(time.monotonic())))
            model = self.queue.next_model()
            if model is None or self.worker is None:
                return "", [], late
            room = min(self.settings.batch_tokens, self.paces[model].tokens_in(self.settings.batch_seconds))
            batch = self.queue.take(model, room)
            self._computing = (model, sum(part.tokens for part in batch), time.monotonic())
            return model, batch, late

    def _compute(self, model: str, batch: Sequence[Slice]) -> None:
        """Sends a batch and waits for its answers, for as long as the worker shows that it is alive."""
        assert self.worker is not None and self._computing is not None
        inputs = [one for part in batch for one in inputs_of(part)]
        for part in batch:
            job = as_job(part.request)
            job.started_at = job.started_at or self._computing[2]
        try:
            self.worker.send(model, inputs)
            while (result := self.worker.receive(LOOK_SECONDS)) is None:
                if not self._is_working():
                    self._replace("was stuck", batch)
                    return
        except WorkerDied:
            self._replace("died", batch)
            return
        seconds = time.monotonic() - self._computing[2]
        characters = sum(map(text_length, inputs))
        with self._lock:
            self._computing = None
            self.paces[model].observe(characters, sum(result.tokens), len(inputs), seconds)
        self.counts.batches += 1
        self.counts.texts += len(inputs)
        self._failures = 0
        distribute(batch, result)
        self.on_batch(model, batch, result.seconds, result.joules)

    def _is_working(self) -> bool:
        """False if the worker has ended, or has been silent so long that it is given up."""
        assert self.worker is not None
        silent, allowed = self.silence()
        return self.worker.is_alive() and silent < max(allowed, self.settings.restart_seconds)

    def _replace(self, reason: str, batch: Sequence[Slice]) -> None:
        """Only the batch that the worker was computing fails; what waits is computed by the next worker."""
        assert self.worker is not None
        info(f"niwaki serve: the worker {reason}; starting another one")
        self.state, self._computing = "restarting", None
        self.worker.end(at_once=True)
        self.worker = None
        for part in batch:
            with self._lock:
                self.queue.remove(part.request)  # the rest of a request of which a part is lost
            as_job(part.request).finish(
                ServeError(503, "worker_lost", f"the worker {reason} while it computed this; try again")
            )
        while self.state == "restarting":
            if self._failures and self._wait_stopped(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._failures - 1))):
                return
            try:
                self._failures += 1
                fresh = self._start_worker()
                self.counts.restarts += 1
                self._use(fresh)
            except NiwakiError as error:
                info(f"niwaki serve: the worker did not start ({first_line(error)})")

    def _wait_stopped(self, seconds: float) -> bool:
        with self._lock:
            return self._lock.wait_for(lambda: self.state == "stopped", timeout=seconds)

    def _take_over(self) -> None:
        """Uses the worker with the models that were loaded anew, if there is one."""
        with self._lock:
            fresh, self._next = self._next, None
            if fresh is None:
                return
            old = self.worker
            self._use(fresh)
            self.counts.reloads += 1
            gone = [job for job in self.queue if job.model not in self.paces]
            for job in gone:
                self.queue.remove(job)
            self._lock.notify_all()
        for job in gone:
            as_job(job).finish(unknown_model(job.model, self.paces))
        if old is not None:
            old.end()

    def _use(self, worker: Worker) -> None:
        self.worker, self.about = worker, worker.about
        self.paces = {name: self.paces.get(name) or first_pace(about) for name, about in worker.about.items()}
        self.state = "ready" if self.state != "stopped" else self.state


def first_pace(about: Json) -> Pace:
    """The speed of a model in its worker's warm-up."""
    pace = Pace(max_tokens=about["max_tokens"])
    pace.observe(**about["warm_up"])
    return pace


def as_job(request: Request) -> Job:
    assert isinstance(request, Job)
    return request


def inputs_of(part: Slice) -> Sequence[object]:
    return as_job(part.request).inputs[part.start : part.stop]


def overloaded(wait: float) -> ServeError:
    return ServeError(429, "overloaded", f"{wait:.1f} seconds of work wait already; try again later", max(1.0, wait))


def unknown_model(name: str, known: object) -> ServeError:
    names = ", ".join(sorted(map(str, known))) if isinstance(known, dict) else ""
    return ServeError(404, "model_not_found", f"model {name[:80]!r} is not served; there is: {names}")
