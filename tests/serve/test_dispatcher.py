"""The dispatcher with workers that answer, hang and die on command."""

import threading
import time
from collections.abc import Callable

import pytest

from niwaki.core.errors import NiwakiError
from niwaki.serve.batching import Request
from niwaki.serve.dispatcher import Dispatcher, overloaded
from niwaki.serve.jobs import Job, ServeError
from niwaki.serve.settings import ServeSettings
from serve.fakes import MODELS, Factory, FakeWorker, started


@pytest.fixture
def running():
    """Starts dispatchers that are stopped after the test."""
    found: list[Dispatcher] = []

    def start(*workers: FakeWorker, **settings: object) -> Dispatcher:
        found.append(started(*workers, **settings))
        return found[-1]

    yield start
    for dispatcher in found:
        dispatcher.stop()


def job(
    count: int = 1, seconds: float = 5.0, model: str = "letters", text: str = "good"
) -> tuple[Job, threading.Event]:
    done = threading.Event()
    one = Job(model, [5] * count, time.monotonic() + seconds, inputs=[text] * count, on_done=lambda _: done.set())
    return one, done


def until(condition: Callable[[], object], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(condition())


def held() -> FakeWorker:
    worker = FakeWorker()
    worker.hold.clear()
    return worker


def test_answers_come_back_in_order(running):
    dispatcher = running()
    one = Job("letters", [5] * 3, time.monotonic() + 5, inputs=["good", "bad", "good"], on_done=lambda _: event.set())
    event = threading.Event()
    dispatcher.submit(one)
    assert event.wait(5) and [answer["label"] for answer in one.answers] == ["good", "bad", "good"]
    assert one.joules == pytest.approx(0.5) and one.queued_at <= one.started_at and dispatcher.counts.texts == 3


def test_requests_that_wait_share_a_batch(running):
    worker = held()
    dispatcher = running(worker)
    jobs = [job(text=f"good {number}") for number in range(5)]
    dispatcher.submit(jobs[0][0])
    assert until(lambda: worker._batch)
    for one, _ in jobs[1:]:
        dispatcher.submit(one)
    worker.hold.set()
    assert all(done.wait(5) for _, done in jobs)
    assert [len(inputs) for _, inputs in worker.computed] == [1, 4]


def test_cancelled_and_late_jobs_are_not_computed(running):
    worker = held()
    dispatcher = running(worker)
    first, first_done = job(text="first")
    left, left_done = job(text="left")
    late, late_done = job(text="late", seconds=0.3)
    dispatcher.submit(first)
    assert until(lambda: worker._batch)
    dispatcher.submit(left)
    dispatcher.submit(late)
    assert dispatcher.cancel(left) and not dispatcher.cancel(left)
    time.sleep(0.32)
    worker.hold.set()
    assert first_done.wait(5) and late_done.wait(5) and not left_done.is_set()
    assert late.error is not None and late.error.status == 429
    assert [inputs for _, inputs in worker.computed] == [["first"]]


def test_a_full_queue_rejects_with_the_time_to_wait(running):
    worker = held()
    dispatcher = running(worker, queue_seconds=0.05)
    dispatcher.submit(job()[0])
    assert until(lambda: worker._batch)
    for _ in range(200):
        try:
            dispatcher.submit(job(count=50)[0])
        except ServeError as error:
            assert error.status == 429 and error.retry_after >= 1
            break
    else:
        pytest.fail("nothing was rejected")
    assert dispatcher.is_full() and dispatcher.wait_seconds() > 0.05
    worker.hold.set()


def test_a_request_that_would_be_late_is_rejected_at_once(running):
    worker = held()
    dispatcher = running(worker, queue_seconds=100)
    dispatcher.submit(job()[0])
    assert until(lambda: worker._batch)
    dispatcher.submit(job(count=1000)[0])
    with pytest.raises(ServeError, match="seconds of work"):
        dispatcher.submit(job(seconds=0.1)[0])
    worker.hold.set()


def test_a_worker_that_dies_loses_only_its_batch(running):
    worker = held()
    worker.dies = True
    dispatcher = running(worker)
    first, first_done = job(text="first")
    second, second_done = job(text="second")
    dispatcher.submit(first)
    assert until(lambda: worker._batch)
    dispatcher.submit(second)
    worker.hold.set()
    assert first_done.wait(5) and second_done.wait(5)
    assert first.error is not None and first.error.code == "worker_lost" and second.error is None
    assert dispatcher.counts.restarts == 1 and dispatcher.state == "ready" and worker.ended


def test_the_rest_of_a_request_of_which_a_part_is_lost_is_not_computed(running):
    worker = FakeWorker(dies=True)
    dispatcher = running(worker, batch_tokens=10)
    one, done = job(count=20)
    dispatcher.submit(one)
    assert done.wait(5) and one.error is not None and not len(dispatcher.queue)
    other, other_done = job()
    dispatcher.submit(other)
    assert other_done.wait(5) and other.error is None


def test_an_idle_worker_that_dies_is_replaced(running):
    worker = FakeWorker()
    dispatcher = running(worker)
    worker.alive = False
    assert until(lambda: dispatcher.counts.restarts == 1 and dispatcher.state == "ready")


def test_a_stuck_worker_is_replaced(running):
    worker = held()
    worker.beat = lambda: 0.0
    dispatcher = running(worker, restart_seconds=0.1)
    one, done = job()
    dispatcher.submit(one)
    assert done.wait(5) and one.error is not None and "stuck" in one.error.message
    assert until(lambda: dispatcher.state == "ready") and worker.ended


def test_workers_that_do_not_start_are_tried_again(monkeypatch):
    monkeypatch.setattr("niwaki.serve.dispatcher.FIRST_PAUSE", 0.01)

    class Failing(Factory):
        def __call__(self) -> FakeWorker:
            if len(self.started) == 1 and not self.failed:
                self.failed = True
                raise NiwakiError("no memory")
            return super().__call__()

        failed = False

    dispatcher = Dispatcher(Failing(worker := FakeWorker()), ServeSettings())
    dispatcher.start()
    worker.alive = False
    assert until(lambda: dispatcher.counts.restarts == 1)
    dispatcher.stop()


def test_reload_swaps_workers_between_two_batches(running):
    old = held()
    dispatcher = running(old)
    first, first_done = job()
    dispatcher.submit(first)
    assert until(lambda: old._batch)
    waiting, waiting_done = job()
    dispatcher.submit(waiting)
    thread = threading.Thread(target=dispatcher.reload)
    thread.start()
    assert until(lambda: dispatcher._next is not None) and not old.ended
    old.hold.set()
    thread.join(5)
    assert first_done.wait(5) and waiting_done.wait(5) and first.error is waiting.error is None
    assert old.ended and len(old.computed) == 1 and dispatcher.counts.reloads == 1


def test_jobs_of_a_model_that_is_gone_after_a_reload_are_answered(running):
    old, fresh = held(), FakeWorker(about={"letters": MODELS["letters"]})
    dispatcher = running(old, fresh)
    dispatcher.submit(job()[0])
    assert until(lambda: old._batch)
    gone, gone_done = job(model="vectors")
    dispatcher.submit(gone)
    thread = threading.Thread(target=dispatcher.reload)
    thread.start()
    assert until(lambda: dispatcher._next is not None)
    old.hold.set()
    thread.join(5)
    assert gone_done.wait(5) and gone.error is not None and gone.error.status == 404


def test_a_reload_that_fails_keeps_the_worker(running):
    dispatcher = running(worker := FakeWorker())
    dispatcher._start_worker = lambda: (_ for _ in ()).throw(NiwakiError("damaged"))
    with pytest.raises(NiwakiError, match="damaged"):
        dispatcher.reload()
    one, done = job()
    dispatcher.submit(one)
    assert done.wait(5) and one.error is None and dispatcher.worker is worker


def test_stopping_answers_what_waits():
    worker = held()
    dispatcher = started(worker)
    dispatcher.submit(job()[0])
    assert until(lambda: worker._batch)
    waiting, done = job()
    dispatcher.submit(waiting)
    dispatcher.state = "stopped"
    worker.hold.set()
    assert done.wait(5) and waiting.error is not None and waiting.error.code == "stopping"
    dispatcher.stop()


def test_many_threads_lose_no_request(running):
    dispatcher = running()
    jobs = [job(count=1 + number % 3) for number in range(200)]
    threads = [
        threading.Thread(target=lambda part=part: [dispatcher.submit(one) for one, _ in part])
        for part in (jobs[::2], jobs[1::2])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(done.wait(5) for _, done in jobs) and all(len(one.answers) == len(one.inputs) for one, _ in jobs)


def test_only_jobs_are_dispatched():
    with pytest.raises(AssertionError):
        from niwaki.serve.dispatcher import as_job

        as_job(Request("a", [1], 1.0))
    assert overloaded(3.2).retry_after == pytest.approx(3.2)
