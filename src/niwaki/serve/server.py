"""Runs a server: socket, worker, event loop, signals.

SIGTERM and Ctrl-C drain: /ready says 503 at once, open requests are answered, then the process ends. SIGHUP reloads the models.
"""

import asyncio
import contextlib
import select
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import uvicorn

from niwaki.core.errors import NiwakiError, first_line
from niwaki.core.log import info
from niwaki.core.system import raise_open_files
from niwaki.serve.app import make_app
from niwaki.serve.connections import patient_protocol
from niwaki.serve.dispatcher import Dispatcher
from niwaki.serve.metrics import Metrics
from niwaki.serve.process import WorkerProcess
from niwaki.serve.serving import Serving
from niwaki.serve.settings import ServeSettings
from niwaki.serve.sources import sources_of

BACKLOG = 2048  # connections that wait to be accepted
KEEP_ALIVE_SECONDS = 30
ARRIVAL_SECONDS = 0.2  # for the requests of connections that were accepted last
OnReady = Callable[[str, list[str]], None]  # address and names of the models


class Server(uvicorn.Server):
    """uvicorn without its own signal handlers, which end the process before load balancers notice, and without its abrupt end: closing a
    socket resets connections that wait to be accepted, and it closes those whose request has not been read yet."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for _ in range(BACKLOG):
            if not select.select(sockets or [], [], [], 0)[0]:
                break
            await asyncio.sleep(0)  # the loop accepts what waits
        for server in self.servers:
            server.close()
        await asyncio.sleep(ARRIVAL_SECONDS)
        await super().shutdown(sockets)


def serve(models: Sequence[str], settings: ServeSettings, on_ready: OnReady | None = None) -> None:
    """Serves until SIGTERM or Ctrl-C. `on_ready` is called once requests are taken."""
    sources = sources_of(models)
    raise_open_files()
    with listening_socket(settings.host, settings.port) as listener:
        given = sources, settings.engine, settings.threads, settings.cache_bytes
        dispatcher = Dispatcher(lambda: WorkerProcess(*given), settings)
        try:
            dispatcher.start()
            serving = Serving(settings, dispatcher, Metrics(dispatcher))
            asyncio.run(_serve(serving, listener, on_ready or announce))
        finally:
            dispatcher.stop()


def announce(address: str, models: list[str]) -> None:
    info(f"niwaki serve: {', '.join(models)} on {address}")


def listening_socket(host: str, port: int) -> socket.socket:
    """A bound socket; clients can connect once the server listens on it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except (OSError, OverflowError, UnicodeError) as error:
        found.close()
        raise NiwakiError(
            f"{host}:{port}: cannot be listened on ({first_line(error)}); choose another --host or --port"
        ) from None
    return found


async def _serve(serving: Serving, listener: socket.socket, on_ready: OnReady) -> None:
    settings = serving.settings
    config = uvicorn.Config(
        make_app(serving),  # type: ignore[arg-type,unused-ignore]
        http=patient_protocol(settings.body_seconds),
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
    )
    server = Server(config)
    handle_signals(serving, server)
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started and not task.done():
        await asyncio.sleep(0.01)
    if server.started:
        host, port = listener.getsockname()[:2]
        on_ready(f"http://{f'[{host}]' if ':' in host else host}:{port}", list(serving.dispatcher.about))
    await task


def handle_signals(serving: Serving, server: Server) -> None:
    loop = asyncio.get_running_loop()

    def drain() -> None:
        if serving.is_draining:  # the second signal
            server.should_exit = server.force_exit = True
            return
        info("niwaki serve: open requests are answered, then it ends; once more to end at once")
        serving.is_draining = True
        loop.call_later(serving.settings.goodbye_seconds, partial(setattr, server, "should_exit", True))

    def reload() -> None:
        loop.run_in_executor(None, _reload, serving)

    handlers = {"SIGTERM": drain, "SIGINT": drain, "SIGHUP": reload}
    for name, handler in handlers.items():
        with contextlib.suppress(NotImplementedError, AttributeError):  # Windows
            loop.add_signal_handler(getattr(signal, name), handler)


def _reload(serving: Serving) -> None:
    try:
        serving.dispatcher.reload()
    except NiwakiError as error:
        serving.metrics.reload_failures.inc()
        info(f"niwaki serve: the models before are served on ({first_line(error)})")
    else:
        info("niwaki serve: models reloaded")
