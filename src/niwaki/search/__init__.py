"""Searches for a model within limits: size, latency, energy, score. Callable: `niwaki.search(…)` is `niwaki.api.searching.search`.

space.py      what is varied: stages and their order, methods, their settings
points.py     the recipe of one point of the space, and how its last training is cut into parts
predict.py    exact size and FLOPs of a point without training, and its time by two timed models
proposals.py  which point comes next (Optuna)
limits.py     which limits a model misses and by how much, and which of two models is better
trial.py      makes the stages of a point, in the stage store that runs share, and measures the model in every format and engine
journal.py    finished trials on disk, from which a killed search resumes
search.py     the loop
selected.py   compares the selected model with the source on test rows, and computes the payback
result.py     what the user gets
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from niwaki.search.result import Searched


class _Search(ModuleType):
    """`niwaki.search` is this package and `niwaki.search(…)` searches: the name serves both."""

    def __call__(self, *args: object, **kwargs: object) -> "Searched":
        import niwaki  # which finds the function in its API, a package above this one

        found: Searched = niwaki.__getattr__("search")(*args, **kwargs)
        return found


sys.modules[__name__].__class__ = _Search
