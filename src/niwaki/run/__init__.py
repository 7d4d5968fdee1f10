"""Recipes, plans and what runs them. Callable: `niwaki.run("rotten_tomatoes")` is `niwaki.run.start.run`."""

import sys
from types import ModuleType
from typing import Any


class _Run(ModuleType):
    """`niwaki.run` is this package and `niwaki.run(…)` runs a recipe: the name serves both."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from niwaki.run.start import run

        return run(*args, **kwargs)


sys.modules[__name__].__class__ = _Run
