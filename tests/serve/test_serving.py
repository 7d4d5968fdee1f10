"""One request from its limits to its answers, with clients that leave and deadlines that pass."""

import asyncio
import time

import pytest

pytest.importorskip("prometheus_client")

from niwaki.serve.jobs import ServeError
from niwaki.serve.metrics import Metrics
from niwaki.serve.serving import Serving, answer
from serve.fakes import FakeWorker, started


@pytest.fixture
def make():
    dispatchers = []

    def make(worker=None, **settings):
        dispatchers.append(dispatcher := started(worker or FakeWorker(), **settings))
        return Serving(dispatcher.settings, dispatcher, Metrics(dispatcher))

    yield make
    for dispatcher in dispatchers:
        dispatcher.worker.hold.set()
        dispatcher.stop()


def ask(serving, *given, left_after=None, **more):
    """The job, or the code of the error."""

    async def left():
        await asyncio.sleep(60 if left_after is None else left_after)

    async def run():
        try:
            return await answer(serving, left, *given, **more)
        except ServeError as error:
            return error

    return asyncio.run(run())


def held():
    worker = FakeWorker()
    worker.hold.clear()
    return worker


def test_answers_are_returned(make):
    job = ask(make(), "letters", ["good", "bad"])
    assert [found["label"] for found in job.answers] == ["good", "bad"] and job.joules > 0


def test_limits_name_the_input(make):
    serving = make(max_texts=2, max_characters=10)
    assert ask(serving, "letters", []).code == "too_many_texts"
    assert ask(serving, "letters", ["a"] * 3).status == 422
    assert ask(serving, "letters", ["a", "b" * 11]).message.startswith("inputs.1: has 11 characters")
    assert ask(serving, "letters", [["a", "b" * 10]]).code == "text_too_long"
    assert ask(serving, "never", ["a"]).status == 404


def test_one_input_that_cannot_be_answered_is_named(make):
    found = ask(make(), "letters", ["good", ""])
    assert found.status == 422 and found.message == "inputs.1: is empty"


def test_jobs_of_clients_that_left_are_taken_out(make):
    worker = held()
    serving = make(worker)
    assert ask(serving, "letters", ["first"], timeout_ms=30).status == 504
    assert ask(serving, "letters", ["good"], left_after=0.01).status == 499
    worker.hold.set()
    job = ask(serving, "letters", ["last"])
    assert job.answers and [inputs for _, inputs in worker.computed] == [["first"], ["last"]]
    assert b'niwaki_abandoned_requests_total{computed="no",reason="client_left"} 1.0' in serving.metrics.text()


def test_deadlines_tell_waiting_from_computing(make):
    serving = make(held())
    computing = ask(serving, "letters", ["good"], timeout_ms=20)
    waiting = ask(serving, "letters", ["good"], timeout_ms=20)
    assert (computing.status, computing.code) == (504, "deadline")
    assert (waiting.status, waiting.retry_after) == (429, 1.0)


def test_a_cancelled_handler_leaves_nothing_in_the_queue(make):
    serving = make(held())
    ask(serving, "letters", ["good"], timeout_ms=20)

    async def left():
        await asyncio.sleep(60)

    async def run():
        task = asyncio.create_task(answer(serving, left, "letters", ["good"]))
        await asyncio.sleep(0.02)
        assert len(serving.dispatcher.queue) == 1
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
    assert not len(serving.dispatcher.queue)


def test_a_request_cannot_extend_the_deadline_of_the_server(make):
    serving = make(held(), timeout_seconds=0.05)
    began = time.monotonic()
    assert ask(serving, "letters", ["good"], timeout_ms=60_000).status == 504
    assert time.monotonic() - began < 5


def test_models_are_chosen_by_kind(make):
    serving = make()
    assert serving.choose("") == "letters" and serving.choose("", ("embedding",), "gives embeddings") == "vectors"
    for given, kinds, status in (("never", (), 404), ("letters", ("embedding",), 400), ("", ("number",), 400)):
        with pytest.raises(ServeError) as caught:
            serving.choose(given, kinds, "does that")
        assert caught.value.status == status


def test_requests_are_taken_while_the_worker_restarts(make):
    serving = make()
    worker, serving.dispatcher.worker = serving.dispatcher.worker, None
    assert serving.choose("") == "letters"
    serving.dispatcher.worker = worker
