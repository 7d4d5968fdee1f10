"""Serves models over HTTP: predictions, embeddings, metrics, health."""

import sys
from pathlib import Path

import typer

from niwaki.cli._options import Engine, Quiet
from niwaki.cli._print import print_result

PANEL = "Use"
SETTINGS = {  # option → field of ServeSettings
    **{name: name for name in ("host", "port", "engine", "threads", "max_texts", "max_characters")},
    "timeout": "timeout_seconds",
    "queue": "queue_seconds",
    "cache": "cache_bytes",
    "max_body": "max_body_bytes",
    "body_timeout": "body_seconds",
    "drain": "drain_seconds",
}


def command(
    context: typer.Context,
    models: list[str] = typer.Argument(
        help="folders of models, cascades or runs, as PATH or NAME=PATH; heads in them are served too"
    ),
    host: str = typer.Option("127.0.0.1", help="address to listen on; 0.0.0.0 for all"),
    port: int = typer.Option(8000, help="port to listen on; 0 chooses a free one"),
    timeout: float = typer.Option(10.0, help="deadline of a request in seconds"),
    queue: float = typer.Option(1.0, help="seconds of work that may wait; more is answered with 429"),
    threads: int = typer.Option(0, help="threads of the worker; 0: all cores"),
    cache: int = typer.Option(256 << 20, help="bytes of encoder outputs kept for models with several heads"),
    max_body: int = typer.Option(1 << 20, help="bytes of a request"),
    max_texts: int = typer.Option(1024, help="texts in a request"),
    max_characters: int = typer.Option(100_000, help="characters of a text"),
    body_timeout: float = typer.Option(10.0, help="seconds in which a request must arrive"),
    drain: float = typer.Option(30.0, help="seconds for open requests after SIGTERM"),
    api_keys: Path = typer.Option(None, help="file with an API key a line; also NIWAKI_API_KEYS, separated by commas"),
    engine: Engine = "auto",
    quiet: Quiet = False,
    json: bool = typer.Option(False, "--json", help="print address and models as JSON once it serves"),
) -> None:
    """Serve models over HTTP: predictions, embeddings, metrics, health.

    POST /v1/predict answers texts, /v1/embeddings is OpenAI's, /predict that of text-embeddings-inference; /openapi.json describes them.
    SIGTERM answers what is open and ends, SIGHUP loads the models again.

    niwaki serve runs/reviews topics=my-model --port 8080
    """
    from niwaki.core import log
    from niwaki.core.settings import check
    from niwaki.serve.keys import read_keys
    from niwaki.serve.server import serve
    from niwaki.serve.settings import ServeSettings

    log.quiet(quiet)
    values = {SETTINGS[name]: value for name, value in context.params.items() if name in SETTINGS}
    serve(
        models, check(ServeSettings, {**values, "api_keys": read_keys(api_keys)}, "serve"), print_json if json else None
    )


def print_json(address: str, models: list[str]) -> None:
    print_result({"address": address, "models": models}, True, "")
    sys.stdout.flush()
