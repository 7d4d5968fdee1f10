"""A served application with a fake worker, and a tiny model in a folder."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from serve.fakes import Reply, call, started


@pytest.fixture
def served() -> Iterator[Callable[..., object]]:
    """Makes a server with fake workers; the result has `serving`, `app` and a blocking `request`."""
    pytest.importorskip("fastapi")
    pytest.importorskip("prometheus_client")
    from niwaki.serve.app import make_app
    from niwaki.serve.metrics import Metrics
    from niwaki.serve.serving import Serving

    dispatchers = []

    class Served:
        def __init__(self, *workers: object, **settings: object) -> None:
            dispatchers.append(dispatcher := started(*workers, **settings))
            self.dispatcher = dispatcher
            self.serving = Serving(dispatcher.settings, dispatcher, Metrics(dispatcher))
            self.app = make_app(self.serving)

        def request(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return asyncio.run(call(self.app, method, path, body, named))

    yield Served
    for dispatcher in dispatchers:
        dispatcher.stop()


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny int8 classifier for the native engine and ONNX Runtime."""
    import tiny
    from niwaki.models.edits.int8 import Int8

    model = tiny.model("bert")
    model.apply_edit(Int8())
    return tiny.deployed(model, tmp_path_factory.mktemp("served") / "reviews")
