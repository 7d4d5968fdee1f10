"""A wall meter, BMC or hypervisor that writes its total energy to a file, named in NIWAKI_ENERGY_FILE.

The unit is in the file's name (`energy_uj`, `meter.wh`; else joules): Scaphandre's files for a guest fit.
The meter's own error, as a part of 1, is in NIWAKI_ENERGY_ERROR.
"""

import os
import re
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.meter.apportion import apportion
from niwaki.meter.reader import Energy, Reader, Usage, constant

JOULES = {"uj": 1e-6, "mj": 1e-3, "j": 1.0, "kj": 1e3, "wh": 3600.0, "kwh": 3.6e6}
ERROR_NOT_STATED = 0.15


class Wall(Reader):
    name = "wall"
    rank = 10
    covers = frozenset({"cpu", "gpu"})
    needs_host = True

    def __init__(self, path: Path | str | None = None, error: float | None = None) -> None:
        given = path or os.environ.get("NIWAKI_ENERGY_FILE")
        self.path = Path(given) if given else None
        stated = os.environ.get("NIWAKI_ENERGY_ERROR") if error is None else error
        self.error = ERROR_NOT_STATED if stated is None else float(stated)

    def fault(self) -> str | None:
        if self.path is None:
            return "NIWAKI_ENERGY_FILE names no energy file"
        try:
            self.snapshot()
        except (OSError, ValueError) as error:
            # requested by name, so it must not be skipped silently
            raise InputError(
                f"NIWAKI_ENERGY_FILE: {self.path} does not hold one number ({error}); fix or unset it"
            ) from None
        return None

    def snapshot(self) -> float:
        assert self.path is not None
        return float(self.path.read_text()) * unit_of(self.path)

    def energy(self, before: float, after: float, usage: Usage) -> Energy | None:
        if after <= before:
            return None  # a meter that stood still or was reset during the window says nothing
        ours, low, high, tier = apportion(after - before, usage, self.error)
        band = constant(
            "meter error", self.error, "±", "as stated" if self.error != ERROR_NOT_STATED else "not stated", ""
        )
        source = f"energy file {self.path.name if self.path else ''}"
        return Energy(ours, low, high, tier, source, constants=[band], extra={"machine_joules": after - before})


def unit_of(path: Path) -> float:
    """Joules per unit, from the last part of the name: `energy_uj`, `total.kwh`."""
    return JOULES.get(re.split(r"[._]", path.name.lower())[-1], 1.0)
