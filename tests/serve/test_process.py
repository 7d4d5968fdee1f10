"""A real worker process (slow: it imports everything anew)."""

import os
import signal
import time

import pytest

import niwaki
from niwaki.core.errors import InputError, NiwakiError
from niwaki.serve.process import WorkerDied, WorkerProcess
from niwaki.serve.worker import ModelSource

pytestmark = pytest.mark.slow


@pytest.fixture
def worker(tiny_folder):
    process = WorkerProcess([ModelSource("reviews", str(tiny_folder))], "native", 1)
    yield process
    process.end(at_once=True)


def answers(worker, texts, model="reviews"):
    worker.send(model, texts)
    return worker.receive(30).answers


def test_answers_are_those_of_this_process(worker, tiny_folder):
    texts = ["a lovely film", "the bad end of it"]
    expected = niwaki.load(tiny_folder, engine="native").predict(texts)
    assert answers(worker, texts) == [one.record() for one in expected]
    assert worker.about["reviews"]["kind"] == "label" and worker.silent_seconds() < 0.5


def test_a_killed_worker_is_noticed(worker):
    os.kill(worker.pid, signal.SIGKILL)
    worker._process.join(5)
    assert not worker.is_alive()
    with pytest.raises(WorkerDied):
        worker.send("reviews", ["a"])
        worker.receive(5)


def test_a_stopped_worker_is_silent(worker):
    os.kill(worker.pid, signal.SIGSTOP)
    time.sleep(0.7)
    assert worker.silent_seconds() > 0.5 and worker.is_alive()
    os.kill(worker.pid, signal.SIGCONT)
    time.sleep(0.3)
    assert worker.silent_seconds() < 0.3


def test_signals_to_the_group_leave_the_worker_alone(worker):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(worker.pid, number)
    assert len(answers(worker, ["a lovely film"])) == 1


def test_a_closed_pipe_ends_the_worker(worker):
    worker._pipe.close()
    worker._process.join(10)
    assert worker._process.exitcode == 0


def test_faults_of_a_folder_are_raised_here(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        WorkerProcess([ModelSource("a", str(tmp_path / "none"))])


def test_a_worker_that_ends_while_loading_is_an_error(monkeypatch, tiny_folder):
    monkeypatch.setattr("niwaki.serve.process.run_worker", os._exit)
    with pytest.raises((NiwakiError, TypeError), match="while it loaded"):
        WorkerProcess([ModelSource("a", str(tiny_folder))])
