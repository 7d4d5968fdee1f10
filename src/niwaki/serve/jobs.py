"""A job: one request with its inputs, and the answers as they come back from the worker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from niwaki.core.json_types import Json
from niwaki.serve.batching import Request, Slice


class ServeError(Exception):
    """A request that is not answered: HTTP status, a code for programs, a line for people."""

    def __init__(self, status: int, code: str, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.retry_after = status, code, message, retry_after

    def to_json(self) -> Json:
        return {
            "error": {
                "message": self.message,
                "type": "invalid_request" if self.status < 500 else "server_error",
                "code": self.code,
            }
        }


@dataclass
class BatchResult:
    """What the worker returns for a batch: an answer or a message for each input, and what the batch cost."""

    answers: list[Json | str]
    tokens: list[int]
    seconds: float
    joules: float | None  # None without any source of energy readings


def text_length(given: object) -> int:
    """The characters in an input, which may be a text, or texts in lists."""
    if isinstance(given, str):
        return len(given)
    return sum(map(text_length, given)) if isinstance(given, list | tuple) else 1


@dataclass(eq=False)
class Job(Request):
    """A request on its way. `on_done` is called once, by the dispatcher's thread."""

    inputs: Sequence[object] = ()
    on_done: Callable[["Job"], None] = lambda job: None
    answers: list[Json | str] = field(default_factory=list)
    used_tokens: int = 0
    seconds: float = 0.0  # of the worker, its share of the batches
    joules: float | None = 0.0
    queued_at: float = 0.0
    started_at: float = 0.0
    error: ServeError | None = None
    is_done: bool = False

    def add(self, part: Slice, answers: list[Json | str], tokens: list[int], share: float, result: BatchResult) -> None:
        """The answers to a slice of its inputs, with its share of the batch."""
        self.answers += answers
        self.used_tokens += sum(tokens)
        self.seconds += share * result.seconds
        if self.joules is not None:
            self.joules = None if result.joules is None else self.joules + share * result.joules
        if part.stop == len(self.inputs):
            self.finish()

    def finish(self, error: ServeError | None = None) -> None:
        if not self.is_done:
            self.error, self.is_done = error, True
            self.on_done(self)


def distribute(batch: Sequence[Slice], result: BatchResult) -> None:
    """Gives each job of a batch its answers, and its share of time and energy by tokens."""
    total, start = max(1, sum(result.tokens)), 0
    for part in batch:
        stop = start + part.stop - part.start
        tokens = result.tokens[start:stop]
        assert isinstance(part.request, Job)
        part.request.add(part, result.answers[start:stop], tokens, sum(tokens) / total, result)
        start = stop
