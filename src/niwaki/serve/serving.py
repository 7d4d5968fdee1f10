"""What the routes share: one request from its limits to its answers."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from niwaki.serve.dispatcher import Dispatcher, unknown_model
from niwaki.serve.jobs import Job, ServeError, text_length
from niwaki.serve.metrics import Metrics
from niwaki.serve.settings import ServeSettings

LEFT = 499  # what nginx logs for a client that closed the connection


LeftSignal = Callable[[], Awaitable[object]]  # returns when the client of a request has left


@dataclass
class Serving:
    """A server: its settings, dispatcher and metrics."""

    settings: ServeSettings
    dispatcher: Dispatcher
    metrics: Metrics
    is_draining: bool = False

    def choose(self, model: str, kinds: Sequence[str] = (), purpose: str = "") -> str:
        """The model of a request: the one that it names, or the first that gives answers of these kinds."""
        about = self.dispatcher.about
        if model and model not in about:
            raise unknown_model(model, about)
        names = [name for name, one in about.items() if not kinds or one["kind"] in kinds]
        if not names:
            raise ServeError(400, "wrong_model", f"no served model {purpose}")
        if model and model not in names:
            raise ServeError(400, "wrong_model", f"model {model!r} is of another kind; there is: {', '.join(names)}")
        return model or names[0]


async def answer(
    serving: Serving,
    has_left: LeftSignal,
    model: str,
    inputs: Sequence[object],
    timeout_ms: int | None = None,
    priority: int = 0,
) -> Job:
    """The finished job of a request. Raises ServeError; a job whose client left or whose deadline passed is taken out of the queue."""
    loop = asyncio.get_running_loop()
    job = new_job(serving, model, inputs, timeout_ms, priority)
    done: asyncio.Future[Job] = loop.create_future()
    job.on_done = partial(_resolve, loop, done)
    serving.dispatcher.submit(job)
    left = asyncio.ensure_future(has_left())
    both: list[asyncio.Future[Job] | asyncio.Future[object]] = [done, left]
    try:
        await asyncio.wait(both, timeout=job.deadline - time.monotonic(), return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            _give_up(serving, job, has_left=left.done())
    finally:
        left.cancel()
        serving.dispatcher.cancel(job)  # if this task was cancelled
    serving.metrics.finished(done.result())
    if job.error is not None:
        raise job.error
    for number, found in enumerate(job.answers):
        if isinstance(found, str):
            raise ServeError(422, "invalid_input", f"inputs.{number}: {found}")
    return job


def new_job(serving: Serving, model: str, inputs: Sequence[object], timeout_ms: int | None, priority: int) -> Job:
    """Checks sizes. Contents are checked by the worker, which has the tokenizer."""
    settings, pace = serving.settings, serving.dispatcher.paces.get(model)
    if pace is None:
        raise unknown_model(model, serving.dispatcher.paces)
    if not 1 <= len(inputs) <= settings.max_texts:
        raise ServeError(422, "too_many_texts", f"inputs: give 1 to {settings.max_texts} texts (given: {len(inputs)})")
    lengths = list(map(text_length, inputs))
    if max(lengths) > settings.max_characters:
        number = lengths.index(max(lengths))
        raise ServeError(
            422,
            "text_too_long",
            f"inputs.{number}: has {lengths[number]} characters, and {settings.max_characters} are allowed",
        )
    seconds = settings.timeout_seconds if timeout_ms is None else min(timeout_ms / 1000, settings.timeout_seconds)
    tokens = [pace.estimated_tokens(length) for length in lengths]
    return Job(model, tokens, time.monotonic() + seconds, priority, inputs=inputs)


def _give_up(serving: Serving, job: Job, has_left: bool) -> None:
    """The client has left, or the deadline has passed."""
    was_waiting = serving.dispatcher.cancel(job) and job.taken == 0
    serving.metrics.given_up("client_left" if has_left else "deadline", computed=not was_waiting)
    if has_left:
        raise ServeError(LEFT, "client_left", "the client closed the connection")
    if was_waiting:
        raise ServeError(429, "overloaded", "waited until its deadline and was not computed; try again later", 1.0)
    raise ServeError(504, "deadline", "the deadline passed while it was computed; send fewer texts or allow more time")


def _resolve(loop: asyncio.AbstractEventLoop, done: "asyncio.Future[Job]", job: Job) -> None:
    """Called in the dispatcher's thread."""

    def resolve() -> None:
        if not done.done():
            done.set_result(job)

    with contextlib.suppress(RuntimeError):  # the event loop has ended
        loop.call_soon_threadsafe(resolve)
