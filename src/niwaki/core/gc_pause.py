"""Python's collector of reference cycles, paused while many modules are imported."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_gc() -> Iterator[None]:
    """For work that is short and makes many objects that stay: of the time to import torch and transformers, a fifth goes into
    searching them for cycles, of which there are hardly any."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
