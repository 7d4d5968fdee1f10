"""A server in a process of its own, on a free port of this machine."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from niwaki.core.json_types import Json

PROGRAM = "from niwaki.cli import main; main()"


class LiveServer:
    """`niwaki serve` with these words, until `stop`."""

    def __init__(self, *words: object, seconds: float = 120, **environment: str) -> None:
        command = [sys.executable, "-c", PROGRAM, "serve", *map(str, words), "--port", "0"]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}, start_new_session=True
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.until(lambda: any("http://" in line for line in self.lines), seconds)
        self.port = int(next(line for line in self.lines if "http://" in line).rpartition(":")[2])

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    def until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end and self.process.poll() is None, "".join(self.lines)
            time.sleep(0.01)

    def request(
        self, method: str, path: str, body: object = None, timeout: float = 60, **headers: str
    ) -> tuple[int, Json]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, content, {"content-type": "application/json", **named})
        reply = connection.getresponse()
        found = reply.read()
        connection.close()
        return reply.status, json.loads(found) if found.startswith((b"{", b"[")) else {"text": found.decode()}

    def predict(self, text: str = "a lovely film", timeout: float = 60) -> tuple[int, Json]:
        return self.request("POST", "/v1/predict", {"inputs": text}, timeout)

    @property
    def worker(self) -> int:
        """The process id of the worker: the child that maps the models."""
        lists = Path(f"/proc/{self.process.pid}/task").glob("*/children")  # each thread has its own children
        children = [child for one in lists for child in one.read_text().split()]
        named = [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
        assert len(named) == 1, named
        return named[0]

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()


class Load:
    """Clients that send requests one after the other, each over a new connection, until `stop`."""

    def __init__(self, server: LiveServer, clients: int = 4) -> None:
        self.server, self.statuses, self.lost = server, [], []
        self._going = True
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(clients)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        while self._going:
            try:
                self.statuses.append(self.server.predict()[0])
            except ConnectionRefusedError:
                return  # the server has ended: nothing was sent
            except (OSError, http.client.HTTPException) as error:
                self.lost.append(repr(error))
                return

    def stop(self) -> None:
        self._going = False
        for thread in self._threads:
            thread.join(60)
