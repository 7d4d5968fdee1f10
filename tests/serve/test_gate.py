"""The gate in front of an application that answers everything with the size of the body."""

import asyncio
import json

import pytest

pytest.importorskip("prometheus_client")

from niwaki.serve.gate import ClientLeft, Gate, check_key, error_response, whole_body
from niwaki.serve.jobs import ServeError
from niwaki.serve.metrics import Metrics
from niwaki.serve.serving import Serving
from serve.fakes import FakeWorker, call, started

KEY = "0123456789abcdef0123"


async def measuring(scope, receive, send):
    message = await receive()
    body = json.dumps({"bytes": len(message["body"])}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def gate():
    """Makes a gate with settings."""
    dispatchers = []

    def make(**settings):
        dispatchers.append(dispatcher := started(FakeWorker(), **settings))
        return Gate(measuring, Serving(dispatcher.settings, dispatcher, Metrics(dispatcher)))

    yield make
    for dispatcher in dispatchers:
        dispatcher.stop()


def post(gate, body=b"", path="/v1/predict", **headers):
    return asyncio.run(call(gate, "POST", path, body, {name.replace("_", "-"): text for name, text in headers.items()}))


def test_bodies_within_the_limit_pass(gate):
    assert post(gate(max_body_bytes=2048), b"x" * 2048).json == {"bytes": 2048}


def test_declared_sizes_are_rejected_before_the_body_is_read(gate):
    found = post(gate(max_body_bytes=2048), b"", content_length="10000000")
    assert found.status == 413 and found.error == "body_too_large" and found.headers["connection"] == "close"


def test_bodies_without_a_declared_size_are_cut_off(gate):
    found = post(gate(max_body_bytes=2048), b"x" * 4000, content_length="")
    assert found.status == 413


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {KEY}"},
        {"x_api_key": KEY[:-1]},
        {"x_api_key": "ä" * 20},
    ],
)
def test_requests_without_the_key_are_rejected(gate, headers):
    found = post(gate(api_keys=[KEY]), b"{}", **headers)
    assert found.status == 401 and found.error == "invalid_api_key" and "www-authenticate" in found.headers


@pytest.mark.parametrize(
    "headers", [{"authorization": f"Bearer {KEY}"}, {"authorization": f"bearer  {KEY}"}, {"x_api_key": KEY}]
)
def test_both_headers_carry_keys(gate, headers):
    assert post(gate(api_keys=["f" * 20, KEY]), b"{}", **headers).status == 200


def test_probes_need_no_key():
    for path in ("/health", "/ready", "/"):
        check_key({"path": path, "headers": []}, [KEY])
    with pytest.raises(ServeError):
        check_key({"path": "/metrics", "headers": []}, [KEY])


def test_slow_bodies_end_with_408(gate):
    async def slow():
        await asyncio.sleep(60)

    sent = []
    gated = gate(body_seconds=0.05)
    scope = {"type": "http", "method": "POST", "path": "/v1/predict", "headers": [(b"content-length", b"10")]}

    async def send(message):
        sent.append(message)

    asyncio.run(gated(scope, slow, send))
    assert sent[0]["status"] == 408 and (b"connection", b"close") in sent[0]["headers"]


def test_clients_that_leave_before_their_body_is_complete_get_nothing(gate):
    messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive():
        return messages.pop(0)

    sent = []
    gated = gate()
    scope = {"type": "http", "method": "POST", "path": "/v1/predict", "headers": []}
    asyncio.run(gated(scope, receive, sent.append))
    assert sent == [] and b'status="499"' in gated.serving.metrics.text()


def test_bodies_in_parts_are_joined():
    parts = [{"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.request", "body": b"c"}]

    async def receive():
        return parts.pop(0)

    assert asyncio.run(whole_body(receive, 10)) == b"abc"

    async def leave():
        return {"type": "http.disconnect"}

    with pytest.raises(ClientLeft):
        asyncio.run(whole_body(leave, 10))


def test_a_full_queue_rejects_before_the_body_is_parsed(gate):
    gated = gate()
    gated.serving.dispatcher.is_full = lambda: True
    found = post(gated, b"not json at all")
    assert found.status == 429 and int(found.headers["retry-after"]) >= 1 and found.error == "overloaded"
    assert post(gated, b"{}", path="/v1/models").status == 200


def test_connections_close_while_the_server_drains(gate):
    gated = gate()
    gated.serving.is_draining = True
    assert post(gated, b"{}").headers["connection"] == "close"


def test_errors_are_one_line_whatever_their_message_holds():
    status, headers, body = error_response(ServeError(429, "x", "two\nlines \ud800", 0.2))
    assert status == 429 and b"\n" not in body and (b"retry-after", b"1") in headers
    assert json.loads(body)["error"]["message"].startswith("two\nlines")


def test_other_protocols_pass(gate):
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    gated = gate()
    gated.app = app
    asyncio.run(gated({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]
