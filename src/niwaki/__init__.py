"""niwaki: pretrained language models, shaped down to what a task needs, and what that cost and saves.

result = niwaki.compress("my-model", "rows.csv")      # a finished model, smaller and faster
result.model.predict(["a film to see twice"])

run = niwaki.run("rotten_tomatoes")                   # a recipe: fine-tune, distil, prune, quantize
model = niwaki.load("runs/rotten_tomatoes")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; at run time __getattr__ imports them on first use
    from niwaki.api import EncoderCache as EncoderCache
    from niwaki.api import add_head as add_head
    from niwaki.api import align as align
    from niwaki.api import check as check
    from niwaki.api import cloze as cloze
    from niwaki.api import compare as compare
    from niwaki.api import compress as compress
    from niwaki.api import distill as distill
    from niwaki.api import load as load
    from niwaki.api import load_heads as load_heads
    from niwaki.api import look as look
    from niwaki.api import merge as merge
    from niwaki.api import probe as probe
    from niwaki.api import run as run
    from niwaki.api import search as search
    from niwaki.api import trim as trim
    from niwaki.api import write_peft as write_peft
    from niwaki.estimators import Classifier as Classifier
    from niwaki.estimators import Encoder as Encoder
    from niwaki.estimators import Regressor as Regressor
    from niwaki.meter import meter as meter

__version__ = "0.2.0"
ESTIMATORS = ("Classifier", "Encoder", "Regressor")
__all__ = [
    "Classifier",
    "Encoder",
    "EncoderCache",
    "Regressor",
    "__version__",
    "add_head",
    "align",
    "check",
    "cloze",
    "compare",
    "compress",
    "distill",
    "load",
    "load_heads",
    "look",
    "merge",
    "meter",
    "probe",
    "run",
    "search",
    "trim",
    "write_peft",
]


def __getattr__(name: str) -> Any:
    """Heavy modules are imported on first use. A missing optional package is named with the command that installs it."""
    if name == "meter":
        from niwaki.meter import meter

        return meter
    if name in __all__:
        from niwaki.core.extras import explain_missing, guarded

        with explain_missing():
            if name in ESTIMATORS:
                from niwaki import estimators

                return getattr(estimators, name)
            from niwaki import api

            return guarded(getattr(api, name))
    raise AttributeError(f"module 'niwaki' has no attribute {name!r}")
