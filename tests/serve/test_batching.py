"""The queue, with random operations next to a list of what should be in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from niwaki.serve.batching import BatchQueue, QueueFull, Request, fitting

MAX_REQUESTS, MAX_TOKENS = 6, 60
operations = st.lists(
    st.one_of(
        st.tuples(
            st.just("put"),
            st.sampled_from("ab"),
            st.lists(st.integers(1, 20), min_size=1, max_size=5),
            st.integers(0, 30),
            st.integers(0, 2),
        ),
        st.tuples(st.just("remove"), st.integers(0, 40)),
        st.tuples(st.just("expire"), st.integers(0, 3)),
        st.tuples(st.just("take"), st.integers(1, 40)),
    ),
    max_size=60,
)


class Checked:
    """A queue with a record of what happened to each text."""

    def __init__(self) -> None:
        self.queue = BatchQueue(MAX_REQUESTS, MAX_TOKENS)
        self.requests: list[Request] = []
        self.waiting: dict[Request, int] = {}  # the number of texts that should be taken already
        self.taken: dict[tuple[int, str], list[tuple[int, int]]] = {}
        self.now = 0

    def put(self, model: str, tokens: list[int], deadline: int, priority: int) -> None:
        request = Request(model, tokens, self.now + deadline, priority)
        held = sum(sum(one.tokens[done:]) for one, done in self.waiting.items())
        full = len(self.waiting) >= MAX_REQUESTS or (self.waiting and held + sum(tokens) > MAX_TOKENS)
        if full:
            with pytest.raises(QueueFull):
                self.queue.put(request)
            return
        self.queue.put(request)
        self.requests.append(request)
        self.waiting[request] = 0

    def remove(self, number: int) -> None:
        if number < len(self.requests):
            request = self.requests[number]
            assert self.queue.remove(request) == (request in self.waiting)
            self.waiting.pop(request, None)

    def expire(self, later: int) -> None:
        self.now += later
        found = self.queue.expire(self.now)
        assert set(found) == {request for request in self.waiting if request.deadline <= self.now}
        for request in found:
            del self.waiting[request]

    def take(self, room: int) -> None:
        self.expire(0)
        model = self.queue.next_model()
        assert (model is None) == (not self.waiting)
        if model is None:
            return
        first = min(self.waiting, key=lambda one: (one.priority, self.requests.index(one)))
        assert model == first.model, "the first request decides the model"
        batch = self.queue.take(model, room)
        texts = sum(part.stop - part.start for part in batch)
        assert batch and batch[0].request is first
        assert sum(part.tokens for part in batch) <= room or texts == 1
        for part in batch:
            request = part.request
            assert request.model == model and request.deadline > self.now
            assert part.start == self.waiting[request] < part.stop, "every text once, in order"
            self.waiting[request] = part.stop
            order = self.taken.setdefault((request.priority, model), [])
            order += [(self.requests.index(request), number) for number in range(part.start, part.stop)]
            assert order == sorted(order), "first come, first served within a priority"
            if part.stop == len(request.tokens):
                del self.waiting[request]
        self._check_full(batch, room, model)

    def _check_full(self, batch: list, room: int, model: str) -> None:
        """The next text did not fit."""
        rest = [one for one in self.waiting if one.model == model]
        if rest:
            following = min(rest, key=lambda one: (one.priority, self.requests.index(one)))
            used = sum(part.tokens for part in batch)
            assert used + following.tokens[self.waiting[following]] > room

    def check(self) -> None:
        assert set(self.queue) == set(self.waiting) and len(self.queue) == len(self.waiting)
        held: dict[str, int] = {}
        for request, done in self.waiting.items():
            held[request.model] = held.get(request.model, 0) + sum(request.tokens[done:])
        assert self.queue.waiting_tokens == held


@given(operations)
def test_no_text_is_lost_or_computed_twice(steps):
    checked = Checked()
    for name, *values in steps:
        getattr(checked, name)(*values)
        checked.check()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 20))
def test_everything_is_taken_in_the_end(tokens, room):
    queue = BatchQueue(10, 1000)
    request = Request("a", tokens, 1.0)
    queue.put(request)
    taken = 0
    while (model := queue.next_model()) is not None:
        taken += sum(part.stop - part.start for part in queue.take(model, room))
    assert taken == len(tokens) and not len(queue) and not queue.waiting_tokens


def test_requests_that_left_do_not_pile_up():
    """Clients that connect and leave, with a worker that takes nothing."""
    queue = BatchQueue(10, 1000)
    for number in range(5000):
        queue.put(request := Request("a", [1], deadline=1e9 + number))
        queue.remove(request)
    assert len(queue._deadlines) < 200 and not queue._lines and queue.next_model() is None


def test_an_empty_queue_takes_a_request_of_any_size():
    queue = BatchQueue(10, 5)
    queue.put(Request("a", [100], 1.0))
    with pytest.raises(QueueFull):
        queue.put(Request("a", [1], 1.0))


def test_a_request_that_is_split_keeps_its_place():
    queue = BatchQueue(10, 1000)
    queue.put(first := Request("a", [4, 4, 4], 1.0))
    queue.put(Request("a", [1], 1.0))
    assert [(part.request is first, part.start, part.stop) for part in queue.take("a", 9)] == [(True, 0, 2)]
    assert [(part.request is first, part.start, part.stop) for part in queue.take("a", 9)] == [
        (True, 2, 3),
        (False, 0, 1),
    ]


def test_fitting_counts_whole_texts():
    request = Request("a", [3, 3, 3], 1.0, taken=1)
    assert fitting(request, 5, False) == 2 and fitting(request, 6, False) == 3
    assert fitting(request, 2, False) == 1 and fitting(request, 2, True) == 2
