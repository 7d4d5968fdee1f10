"""The queue of requests: bounded, in order of priority and arrival, with deadlines. Pure data: no clock, thread or event loop.

A request has one or more texts for one model. A batch holds texts of one model from as many requests as fit; a long request
is split over several batches.
"""

import heapq
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count


@dataclass(eq=False)
class Request:
    """Texts for one model, with the number of tokens that each is expected to have."""

    model: str
    tokens: list[int]
    deadline: float
    priority: int = 0  # lower numbers first
    taken: int = 0  # texts that are in batches already

    @property
    def waiting_tokens(self) -> int:
        return sum(self.tokens[self.taken :])


@dataclass(frozen=True)
class Slice:
    """Some consecutive texts of a request: its part of a batch."""

    request: Request
    start: int
    stop: int

    @property
    def tokens(self) -> int:
        return sum(self.request.tokens[self.start : self.stop])


class QueueFull(Exception):
    """The queue has no room for a request."""


@dataclass
class BatchQueue:
    """Requests that wait for a model. Times are numbers that callers give, e.g. of time.monotonic()."""

    max_requests: int
    max_tokens: int
    waiting_tokens: dict[str, int] = field(default_factory=dict)  # by model
    _lines: dict[tuple[int, str], OrderedDict[int, Request]] = field(default_factory=dict)  # by priority and model
    _numbers: dict[Request, int] = field(default_factory=dict)  # order of arrival
    _deadlines: list[tuple[float, int, Request]] = field(default_factory=list)  # a heap; may name requests that left
    _count: "count[int]" = field(default_factory=count)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Request]:
        """All requests that wait, in order of arrival."""
        return iter(list(self._numbers))

    def __contains__(self, request: Request) -> bool:
        return request in self._numbers

    def put(self, request: Request) -> None:
        """Raises QueueFull if the queue holds too many requests or tokens. An empty queue takes a request of any size."""
        tokens = request.waiting_tokens
        waiting = sum(self.waiting_tokens.values())
        if len(self) >= self.max_requests or (len(self) and waiting + tokens > self.max_tokens):
            raise QueueFull
        number = next(self._count)
        self._numbers[request] = number
        self._lines.setdefault((request.priority, request.model), OrderedDict())[number] = request
        self._count_tokens(request.model, tokens)
        heapq.heappush(self._deadlines, (request.deadline, number, request))

    def remove(self, request: Request) -> bool:
        """Takes a request out, e.g. because its client left. False if it is not waiting."""
        if request not in self._numbers:
            return False
        self._count_tokens(request.model, -request.waiting_tokens)
        self._drop(request)
        return True

    def expire(self, now: float) -> list[Request]:
        """Takes out all requests whose deadline has passed, and returns them."""
        found = []
        while self._deadlines and (self._deadlines[0][0] <= now or self._deadlines[0][2] not in self._numbers):
            request = heapq.heappop(self._deadlines)[2]
            if self.remove(request):
                found.append(request)
        return found

    def next_model(self) -> str | None:
        """The model of the first request: the lowest priority number, then the earliest arrival."""
        heads = ((priority, next(iter(line)), model) for (priority, model), line in self._lines.items())
        return min(heads)[2] if self._lines else None

    def take(self, model: str, max_tokens: int) -> list[Slice]:
        """The next batch of a model: texts in order, until the next one would exceed `max_tokens`. At least one text if one waits.
        Call `expire` first: the batch may hold requests whose deadline has passed otherwise."""
        batch: list[Slice] = []
        room = max_tokens
        for key in sorted(key for key in self._lines if key[1] == model):
            for request in list(self._lines[key].values()):
                start, stop = request.taken, fitting(request, room, not batch)
                if stop == start:
                    return batch
                batch.append(Slice(request, start, stop))
                room -= batch[-1].tokens
                request.taken = stop
                self._count_tokens(model, -batch[-1].tokens)
                if stop < len(request.tokens):
                    return batch
                self._drop(request)
        return batch

    def _drop(self, request: Request) -> None:
        number = self._numbers.pop(request)
        key = (request.priority, request.model)
        del self._lines[key][number]
        if not self._lines[key]:
            del self._lines[key]
        if len(self._deadlines) > 2 * len(self._numbers) + 64:  # mostly requests that left
            self._deadlines = [entry for entry in self._deadlines if entry[2] in self._numbers]
            heapq.heapify(self._deadlines)

    def _count_tokens(self, model: str, change: int) -> None:
        left = self.waiting_tokens.get(model, 0) + change
        if left:
            self.waiting_tokens[model] = left
        else:
            self.waiting_tokens.pop(model, None)


def fitting(request: Request, room: int, at_least_one: bool) -> int:
    """The end of the texts of a request, from `taken` on, that fit into `room` tokens."""
    stop = request.taken
    while stop < len(request.tokens) and (request.tokens[stop] <= room or (at_least_one and stop == request.taken)):
        room -= request.tokens[stop]
        stop += 1
    return stop
