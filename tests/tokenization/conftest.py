"""Threads that exceed their time limit are abandoned, not ended. They must not run on during later tests."""

import threading
import time
from collections.abc import Iterator

import pytest

MOST_CPU_SECONDS = 20.0


@pytest.fixture(autouse=True)
def abandoned_threads_end() -> Iterator[None]:
    """Fails when a test abandons work that would use a core for the rest of the test run."""
    yield
    began = time.process_time()
    while any(thread.name == "niwaki-timed" for thread in threading.enumerate()):
        assert time.process_time() - began < MOST_CPU_SECONDS, "choose a pattern and a text that end within seconds"
        time.sleep(0.01)
