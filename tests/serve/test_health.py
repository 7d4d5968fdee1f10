import time

import pytest

pytest.importorskip("fastapi")

from serve.fakes import FakeWorker


def status(server, path="/health"):
    found = server.request("GET", path)
    return found.status, found.json["status"]


def test_a_worker_that_beats_is_healthy(served):
    server = served()
    assert status(server) == (200, "ok") == status(server, "/ready")


def test_a_worker_without_heartbeat_is_reported_within_a_second(served):
    last = time.monotonic()
    server = served(FakeWorker(beat=lambda: last))
    assert status(server) == (200, "ok")
    while status(server)[0] == 200:
        assert time.monotonic() - last < 1
        time.sleep(0.01)
    assert status(server) == (503, "stuck") == status(server, "/ready")
    assert 0.5 < time.monotonic() - last < 1


def test_a_worker_may_be_silent_as_long_as_its_batch_takes(served):
    last = time.monotonic() - 2
    server = served(FakeWorker(beat=lambda: last))
    assert status(server)[1] == "stuck"
    server.dispatcher.paces["letters"].observe(400, 100, 1, 1.0)
    server.dispatcher._computing = ("letters", 100, time.monotonic())
    assert status(server) == (200, "ok")


def test_a_dead_worker_is_reported(served):
    server = served()
    server.dispatcher._replace = lambda reason, batch: None
    server.dispatcher.worker.alive = False
    assert status(server) == (503, "dead")


def test_restarting_is_not_healthy(served):
    server = served()
    server.dispatcher.state = "restarting"
    assert status(server) == (503, "restarting")
    server.dispatcher.state = "ready"


def test_draining_and_full_servers_are_healthy_but_not_ready(served):
    server = served()
    server.dispatcher.is_full = lambda: True
    assert status(server) == (200, "ok") and status(server, "/ready") == (503, "full")
    server.serving.is_draining = True
    assert status(server) == (200, "ok") and status(server, "/ready") == (503, "draining")
