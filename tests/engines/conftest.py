"""Here every graph is traced, because the exporter is under test."""

from collections.abc import Iterator

import pytest

import traces
from niwaki.engines import export


@pytest.fixture(scope="package", autouse=True)
def _trace_always() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "trace", traces.traced_anew)
        yield
