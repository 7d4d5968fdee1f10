"""A server on a socket: fast tests of its start, slow ones of signals, lost workers and bad clients."""

import asyncio
import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

import niwaki
from engines.trunks import folder_with_heads
from niwaki.core.errors import NiwakiError
from niwaki.core.system import raise_open_files
from niwaki.serve import server as module
from niwaki.serve.server import listening_socket
from serve.live import LiveServer, Load

KEY = "0123456789abcdef"
CONNECTIONS = 10_000


class Listening:
    """What asyncio gives for a socket that is listened on."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener

    def close(self) -> None:
        self.listener.close()


def test_connections_that_wait_are_accepted_before_the_socket_closes(monkeypatch):
    """The kernel resets them otherwise."""
    monkeypatch.setattr(module, "ARRIVAL_SECONDS", 0.0)
    ended, accepted = [], []

    async def end(self, sockets):
        ended.append(len(accepted))

    monkeypatch.setattr(module.uvicorn.Server, "shutdown", end)
    listener = listening_socket("127.0.0.1", 0)
    listener.listen()
    listener.setblocking(False)
    clients = [socket.create_connection(listener.getsockname()) for _ in range(3)]

    async def drain() -> None:
        asyncio.get_running_loop().add_reader(listener, lambda: accepted.append(listener.accept()[0]))
        server = module.Server(module.uvicorn.Config("none"))
        server.servers = [Listening(listener)]
        await server.shutdown([listener])

    asyncio.run(drain())
    assert ended == [3] and listener.fileno() == -1
    for connection in (*clients, *accepted):
        connection.close()


def test_a_port_that_is_taken_is_an_error_in_one_line():
    with listening_socket("127.0.0.1", 0) as first:
        first.listen()
        with pytest.raises(NiwakiError, match="choose another --host or --port"):
            listening_socket("127.0.0.1", first.getsockname()[1])
    with pytest.raises(NiwakiError, match="cannot be listened on"):
        listening_socket("not a host", 0)


@pytest.fixture(scope="module")
def server(tiny_folder):
    """One server for all tests that leave it as they found it."""
    found = LiveServer(f"reviews={tiny_folder}", "--engine", "native", "--threads", "1", NIWAKI_API_KEYS="")
    yield found
    assert found.stop() == 0, "".join(found.lines)


@pytest.mark.slow
def test_answers_are_those_of_predict(server, tiny_folder):
    texts = ["a lovely film", "the bad end of it"]
    status, found = server.request("POST", "/v1/predict", {"inputs": texts})
    expected = niwaki.load(tiny_folder, engine="native").predict(texts)
    assert status == 200 and found["answers"] == [one.record() for one in expected]
    assert found["usage"]["joules"] > 0


@pytest.mark.slow
def test_a_stopped_worker_is_reported_within_a_second(server):
    pid = server.worker
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    try:
        server.until(lambda: server.request("GET", "/health")[0] == 503, 5)
        seconds = time.monotonic() - began
        assert server.request("GET", "/health")[1]["status"] == "stuck" and seconds < 1.0
    finally:
        os.kill(pid, signal.SIGCONT)
    server.until(lambda: server.request("GET", "/health")[0] == 200)
    assert server.worker == pid, "it was not replaced"


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_loses_only_its_batch(server):
    load = Load(server, clients=8)
    time.sleep(0.5)
    for _ in range(3):
        pid = server.worker
        os.kill(pid, signal.SIGKILL)
        server.until(lambda: server.request("GET", "/health")[1]["status"] == "restarting", 5)
        server.until(lambda: server.request("GET", "/health")[0] == 200)
        time.sleep(0.3)
    load.stop()
    lost = sum(status == 503 for status in load.statuses)
    assert not load.lost and set(load.statuses) <= {200, 503} and lost <= 3 * 8 and load.statuses.count(200) > 50


@pytest.mark.slow
def test_reloading_loses_no_request(server):
    load = Load(server)
    for _ in range(3):
        pid = server.worker
        server.signal(signal.SIGHUP)
        server.until(lambda: changed(server, pid), 60)  # noqa: B023
    load.stop()
    assert not load.lost and set(load.statuses) == {200} and len(load.statuses) > 50


def changed(server: LiveServer, pid: int) -> bool:
    try:
        return server.worker != pid
    except (AssertionError, OSError):  # two workers or none for a moment
        return False


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(3))
def test_draining_loses_no_request(tiny_folder, attempt):
    server = LiveServer(tiny_folder, "--engine", "native", "--threads", "1")
    load = Load(server, clients=8)
    time.sleep(0.3 + 0.1 * attempt)
    server.signal(signal.SIGTERM)
    server.until(lambda: server.request("GET", "/ready")[0] == 503, 1)
    assert server.process.wait(30) == 0, "".join(server.lines)
    load.stop()
    assert not load.lost and set(load.statuses) == {200} and len(load.statuses) > 20


@pytest.mark.slow
def test_the_worker_ends_with_a_killed_server(tiny_folder):
    server = LiveServer(tiny_folder, "--engine", "native", "--threads", "1")
    worker = server.worker
    server.process.kill()
    server.process.wait()
    end = time.monotonic() + 10
    while Path(f"/proc/{worker}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()


def talk(server: LiveServer, *parts: bytes, pause: float = 0.0, seconds: float = 30) -> bytes:
    """What a connection answers to bytes that arrive in parts; ends when the server closes it."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        found = b""
        while part := connection.recv(65536):
            found += part
        return found


HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"


@pytest.mark.slow
def test_bad_clients(server):
    body = b'{"inputs": "a lovely film"}'
    length = f"Content-Length: {len(body)}\r\n\r\n".encode()
    assert b" 200 " in talk(server, HEAD + length + body[:5], body[5:12], body[12:], pause=0.1)
    assert b" 200 " in talk(
        server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
    )
    assert b" 400 " in talk(server, b"GARBAGE\r\n\r\n")
    assert b" 400 " in talk(server, HEAD + b"Content-Length: 4\r\n\r\n{{{{")
    huge = b'{"inputs": "' + b"x" * (10 << 20) + b'"}'
    status, found = server.request("POST", "/v1/predict", huge[: 1 << 20] + b'"}')
    assert status == 413 and found["error"]["code"] == "body_too_large"
    try:
        status, found = server.request("POST", "/v1/predict", huge)
        assert status == 413
    except OSError:  # it closed the connection while the rest was sent
        pass
    leaving = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    for connection in leaving:
        connection.sendall(HEAD + length + body[: len(body) // 2])
        connection.close()
    assert server.predict()[0] == 200


@pytest.mark.slow
def test_slow_clients_are_cut_off_and_hold_up_nobody(tiny_folder, monkeypatch):
    words = [tiny_folder, "--engine", "native", "--threads", "1", "--body-timeout", "1"]
    server = LiveServer(*words)
    held = []
    slow = [(HEAD + b"Content-Length: 50\r\n\r\n{",), (b"POST /v1/pre",), (b"",)]
    threads = [threading.Thread(target=lambda parts=parts: held.append(talk(server, *parts))) for parts in slow * 20]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert server.predict()[0] == 200 and time.monotonic() - began < 20
    assert sum(b" 408 " in found for found in held) == 20 and time.monotonic() - began < 10
    assert server.stop() == 0


@pytest.mark.slow
def test_clients_that_leave_are_not_computed(server):
    body = b'{"inputs": ["' + b'a lovely film", "' * 500 + b'a"]}'
    head = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode()
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head + body)
    server.until(lambda: 'reason="client_left"' in server.request("GET", "/metrics")[1]["text"])


@pytest.mark.slow
def test_ten_thousand_idle_connections(server):
    """They cost memory but no answers."""
    raise_open_files()
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CONNECTIONS)]
    assert server.predict()[0] == 200 and server.request("GET", "/health")[0] == 200
    for connection in held:
        connection.close()
    assert server.predict()[0] == 200


@pytest.mark.slow
def test_keys_and_reloading_over_http(tiny_folder, tmp_path):
    (tmp_path / "keys").write_text(KEY)
    server = LiveServer(tiny_folder, "--engine", "native", "--threads", "1", "--api-keys", tmp_path / "keys")
    pid = server.worker
    assert server.predict()[0] == 401 and server.request("GET", "/health")[0] == 200
    assert server.request("POST", "/reload", x_api_key=KEY)[0] == 200
    server.until(lambda: changed(server, pid))
    assert server.request("POST", "/v1/predict", {"inputs": "a"}, authorization=f"Bearer {KEY}")[0] == 200
    assert server.stop() == 0


@pytest.mark.slow
def test_texts_of_ten_megabytes_are_answered_or_rejected_and_hold_up_nobody(tiny_folder):
    limits = "--max-body", 30 << 20, "--max-characters", 10_000_000, "--timeout", 60
    server = LiveServer(tiny_folder, "--engine", "native", "--threads", "1", *limits)
    text = ("a lovely film " * 714_286)[:10_000_000]
    found: list[tuple[int, dict]] = []
    threads = [
        threading.Thread(target=lambda: found.append(server.request("POST", "/v1/predict", {"inputs": text}, 120)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        began = time.monotonic()
        assert server.request("GET", "/health", timeout=10)[1]["status"] == "ok"
        assert time.monotonic() - began < 5
        time.sleep(0.1)
    assert {status for status, _ in found} <= {200, 429} and 200 in {status for status, _ in found}
    status, answer = server.request("POST", "/v1/predict", {"inputs": text * 2})
    assert status == 422 and answer["error"]["code"] == "text_too_long"
    assert server.predict()[0] == 200
    assert server.stop() == 0


@pytest.mark.slow
def test_heads_are_reloaded_and_drained_without_loss(tmp_path):
    """Heads on one trunk, computed in torch with a cache, under the same load."""
    server = LiveServer(f"mail={folder_with_heads(tmp_path, plain={'labels': 'topics'})}", "--threads", "1")
    load = Load(server)
    pid = server.worker
    server.signal(signal.SIGHUP)
    server.until(lambda: changed(server, pid), 60)
    found = server.request("POST", "/v1/predict", {"model": "mail/all", "inputs": "a film"})
    assert found[0] == 200 and found[1]["answers"][0]["heads"].keys() == {"main", "topics"}
    server.signal(signal.SIGTERM)
    assert server.process.wait(30) == 0, "".join(server.lines)
    load.stop()
    assert not load.lost and set(load.statuses) == {200} and len(load.statuses) > 20
