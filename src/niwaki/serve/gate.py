"""The gate before the routes: API keys, size and time limits of a body, and early rejection while the queue is full.

It reads a body itself, so that a route sees a whole body or none. It is plain ASGI, because a request that is rejected must cost little.
"""

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping

from niwaki.core.json_types import Json
from niwaki.serve.jobs import ServeError
from niwaki.serve.serving import LEFT, Serving

Receive = Callable[[], Awaitable[Json]]
Send = Callable[[MutableMapping[str, object]], Awaitable[None]]
App = Callable[[Json, Receive, Send], Awaitable[None]]

OPEN_PATHS = {"/", "/health", "/ready"}  # they need no key: the page asks for one, probes have none
COMPUTING_PATHS = ("/v1/predict", "/predict", "/v1/embeddings")


class ClientLeft(Exception):
    """The connection was closed before the body was complete."""


class Gate:
    """Wraps the application."""

    def __init__(self, app: App, serving: Serving) -> None:
        self.app, self.serving = app, serving

    async def __call__(self, scope: Json, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, answered = time.perf_counter(), _Answered(send, self.serving)
        try:
            check_key(scope, self.serving.settings.api_keys)
            body = await self._body(scope, receive)
            if scope["path"] in COMPUTING_PATHS and self.serving.dispatcher.is_full():
                raise full(self.serving)
            await self.app(scope, replaying(body, receive), answered.send)
        except ClientLeft:
            answered.status = LEFT
        except ServeError as error:
            await answered.reject(error)
        finally:
            answered.count(scope, began)

    async def _body(self, scope: Json, receive: Receive) -> bytes:
        limit = self.serving.settings.max_body_bytes
        length = header(scope, b"content-length")
        if length.isdigit() and int(length) > limit:
            raise too_large(limit)
        if scope["method"] in ("GET", "HEAD", "OPTIONS") and not int(length or 0):
            return b""
        try:
            async with asyncio.timeout(self.serving.settings.body_seconds):
                return await whole_body(receive, limit)
        except TimeoutError:
            raise ServeError(408, "slow_body", "the body did not arrive in time") from None


class _Answered:
    """Sends a response and notes its status; adds `connection: close` while the server drains."""

    def __init__(self, send: Send, serving: Serving) -> None:
        self._send, self.serving, self.status = send, serving, 0

    async def send(self, message: MutableMapping[str, object]) -> None:
        if message["type"] == "http.response.start":
            self.status = int(str(message["status"]))
            if self.serving.is_draining:
                message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]  # type: ignore[misc]
        if self.status != LEFT:  # nobody is there to read it
            await self._send(message)

    async def reject(self, error: ServeError) -> None:
        status, headers, body = error_response(error)
        if error.status in (408, 413):  # the rest of the body is not read
            headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})

    def count(self, scope: Json, began: float) -> None:
        route = scope.get("route")
        name = getattr(route, "path", "") or ("rejected" if self.status else "other")
        metrics = self.serving.metrics
        metrics.requests.labels(name, str(self.status)).inc()
        metrics.seconds.labels(name).observe(time.perf_counter() - began)


def error_response(error: ServeError) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and a body of one line."""
    body = json.dumps(error.to_json(), ensure_ascii=False).encode("utf-8", "backslashreplace")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.retry_after:
        headers.append((b"retry-after", str(max(1, round(error.retry_after))).encode()))
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    return error.status, headers, body


async def whole_body(receive: Receive, limit: int) -> bytes:
    """All of a body, or ServeError 413 as soon as it is too large."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise too_large(limit)
        if not message.get("more_body", False):
            return b"".join(parts)


def replaying(body: bytes, receive: Receive) -> Receive:
    """Gives the body once; after that, what the server says: that the client has left."""
    messages: list[Json] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Json:
        return messages.pop() if messages else await receive()

    return replay


def header(scope: Json, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def check_key(scope: Json, keys: list[str]) -> None:
    """Raises ServeError 401 unless the request gives one of the keys."""
    if not keys or scope["path"] in OPEN_PATHS:
        return
    scheme, _, token = header(scope, b"authorization").partition(" ")
    given = (token if scheme.lower() == "bearer" else header(scope, b"x-api-key")).strip().encode("latin-1", "replace")
    known = [hmac.compare_digest(given, key.encode()) for key in keys]  # all of them: time must not tell which is close
    if not any(known):
        raise ServeError(401, "invalid_api_key", "needs a key, as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'")


def too_large(limit: int) -> ServeError:
    return ServeError(413, "body_too_large", f"the body has more than {limit} bytes")


def full(serving: Serving) -> ServeError:
    from niwaki.serve.dispatcher import overloaded

    return overloaded(serving.dispatcher.wait_seconds())
