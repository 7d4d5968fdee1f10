"""The timer of a connection, without a socket. tests/serve/test_server.py uses real slow clients."""

import pytest

pytest.importorskip("uvicorn")

from niwaki.serve.connections import patient_protocol


class Transport:
    def __init__(self):
        self.unread, self.aborted, self.closing = 0, False, False

    def abort(self):
        self.aborted = True

    def is_closing(self):
        return self.closing

    def get_write_buffer_size(self):
        return self.unread


class Cycle:
    response_complete = False


@pytest.fixture
def connection():
    """A connection before its first request; `_look` is called by hand."""
    kind = patient_protocol(1.0)
    found = kind.__new__(kind)
    found.transport, found.cycle, found.timeout_keep_alive_task = Transport(), None, None
    found.loop = type("Loop", (), {"call_later": staticmethod(lambda seconds, function: None)})
    return found


def test_headers_that_do_not_arrive_end_the_connection(connection):
    connection._look()
    assert not connection.transport.aborted, "it had no time yet"
    connection._look()
    assert connection.transport.aborted


def test_a_request_that_is_computed_may_take_long(connection):
    connection.cycle = Cycle()
    for _ in range(5):
        connection._look()
    assert not connection.transport.aborted


def test_idle_connections_have_their_own_timer(connection):
    connection.cycle = Cycle()
    connection.cycle.response_complete = True
    connection.timeout_keep_alive_task = object()
    for _ in range(5):
        connection._look()
    assert not connection.transport.aborted


def test_an_answer_that_nobody_reads_ends_the_connection(connection):
    connection.cycle = Cycle()
    connection.transport.unread = 100
    connection._look()
    connection.transport.unread = 50
    connection._look()
    assert not connection.transport.aborted, "something was read"
    connection._look()
    assert connection.transport.aborted


def test_a_closing_connection_that_nobody_reads_is_ended(connection):
    connection.transport.closing, connection.transport.unread = True, 10
    connection._look()
    assert connection.transport.aborted
