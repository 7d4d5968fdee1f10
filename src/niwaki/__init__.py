"""niwaki: pretrained language models, shaped down to what a task needs, and what that cost and saves.

run = niwaki.run("rotten_tomatoes")
model = niwaki.load("runs/rotten_tomatoes")
model.predict(["a film to see twice"])
"""

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "add_head", "check", "load", "meter", "run"]


def __getattr__(name: str) -> Any:
    """Heavy modules are imported on first use."""
    if name == "meter":
        from niwaki.meter import meter

        return meter
    if name in __all__:
        from niwaki import api

        return getattr(api, name)
    raise AttributeError(f"module 'niwaki' has no attribute {name!r}")
