"""The meter: joules with a tier and a range, CO2e, money; the ledger, payback and the energy label."""

import sys
from types import ModuleType
from typing import Any

from niwaki.meter.reading import Reading
from niwaki.meter.window import Window, meter

__all__ = ["Reading", "Window", "meter"]


class _Meter(ModuleType):
    """`niwaki.meter` is this package and `niwaki.meter()` a window: the name serves both."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return meter(*args, **kwargs)


sys.modules[__name__].__class__ = _Meter
