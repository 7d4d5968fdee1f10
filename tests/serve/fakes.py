"""A worker without a process, a server without a socket, and an ASGI client."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from niwaki.core.json_types import Json
from niwaki.serve.dispatcher import Dispatcher
from niwaki.serve.jobs import BatchResult
from niwaki.serve.process import WorkerDied
from niwaki.serve.settings import ServeSettings

ABOUT = {
    "labels": ["bad", "good"],
    "engine": "fake",
    "max_tokens": 64,
    "warm_up": {"characters": 40, "tokens": 14, "texts": 2, "seconds": 0.002},
}
MODELS = {"letters": {"kind": "label", **ABOUT}, "vectors": {"kind": "embedding", **ABOUT}}


def fake_answer(model: str, given: object) -> Json | str:
    if given == "":
        return "is empty"
    if model.startswith("vectors"):
        return {"embedding": [0.6, 0.8]}
    share = 0.9 if "good" in str(given) else 0.2
    return {"label": "good" if share > 0.5 else "bad", "probabilities": {"bad": 1 - share, "good": share}}


@dataclass
class FakeWorker:
    """Answers at once, unless `hold` is cleared. Records what it computed."""

    about: Json = field(default_factory=lambda: dict(MODELS))
    computed: list[tuple[str, list[object]]] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)
    beat: Callable[[], float] = time.monotonic
    alive: bool = True
    dies: bool = False  # with the next batch
    ended: bool = False
    joules: float | None = 0.5
    _batch: tuple[str, list[object]] | None = None

    def __post_init__(self) -> None:
        self.hold.set()

    def send(self, model: str, inputs: list[object]) -> None:
        if not self.alive:
            raise WorkerDied
        self._batch = (model, inputs)

    def receive(self, seconds: float) -> BatchResult | None:
        if not self.hold.wait(seconds):
            return None
        if self.dies:
            self.alive = False
            raise WorkerDied
        assert self._batch is not None
        model, inputs = self._batch
        self.computed.append(self._batch)
        return BatchResult([fake_answer(model, one) for one in inputs], [5] * len(inputs), 0.001, self.joules)

    def silent_seconds(self) -> float:
        return time.monotonic() - self.beat()

    def is_alive(self) -> bool:
        return self.alive

    def end(self, at_once: bool = False) -> None:
        self.ended, self.alive = True, False


class Factory:
    """Starts fake workers; the prepared ones first."""

    def __init__(self, *prepared: FakeWorker) -> None:
        self.prepared, self.started = list(prepared), []

    def __call__(self) -> FakeWorker:
        worker = self.prepared.pop(0) if self.prepared else FakeWorker()
        self.started.append(worker)
        return worker


def started(*workers: FakeWorker, **settings: object) -> Dispatcher:
    """A running dispatcher; tests end it with `stop`."""
    dispatcher = Dispatcher(Factory(*workers), ServeSettings(**settings))
    dispatcher.start()
    return dispatcher


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The code of an error; its body must be one line with a message."""
        assert b"\n" not in self.body and self.json["error"]["message"]
        return str(self.json["error"]["code"])


async def call(
    app: object,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    left: object = None,
) -> Reply:
    """One request to an ASGI application. `left` is an asyncio.Event: the client closes the connection."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    messages = [{"type": "http.request", "body": content, "more_body": False}]
    left = left or asyncio.Event()

    async def receive() -> Json:
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    sent: list[Json] = []

    async def send(message: Json) -> None:
        sent.append(message)

    given = {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    if not sent:
        return Reply(0, {}, b"")
    head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Reply(sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:]))
