"""Seconds to dollars: rented machines are billed by wall time and vCPUs, busy or not. No price, no figure."""

import math
from dataclasses import dataclass
from functools import cache

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.json_types import Json
from niwaki.meter.reader import constant
from niwaki.meter.tables import rows


@dataclass(frozen=True)
class Price:
    """US dollars per vCPU-hour and, where a GPU is rented, per GPU-hour."""

    usd_per_vcpu_hour: float
    source: str = "as given"
    year: int | str = ""
    usd_per_gpu_hour: float = 0.0
    gpus: int = 0

    def __post_init__(self) -> None:
        for name in ("usd_per_vcpu_hour", "usd_per_gpu_hour"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"price: {name} of {value} is not a price; give US dollars, 0 or more")

    def usd(self, seconds: float, vcpus: int) -> float:
        return seconds / 3600 * (vcpus * self.usd_per_vcpu_hour + self.gpus * self.usd_per_gpu_hour)

    def constants(self) -> list[Json]:
        found = [constant("price per vCPU-hour", self.usd_per_vcpu_hour, "USD", self.source, self.year)]
        if self.gpus:
            found.append(constant("price per GPU-hour", self.usd_per_gpu_hour, "USD", self.source, self.year))
        return found


def price(given: "str | float | Price") -> Price:
    """A `Price`, a number of dollars per vCPU-hour, or a name of `tables/prices.csv`."""
    if isinstance(given, Price):
        return given
    try:
        return Price(float(given))
    except ValueError:
        pass
    named = {row["name"]: row for row in rows("prices")}
    if given not in named:
        raise InputError(f"price: '{given}' is not known{did_you_mean(str(given), list(named))}")
    row = named[str(given)]
    return Price(float(row["usd_per_vcpu_hour"]), row["source"], int(row["year"]))


@cache
def assumed_range() -> tuple[float, float]:
    """Lowest and highest vCPU-hour price in the table: shown as assumed where no price is given."""
    found = [float(row["usd_per_vcpu_hour"]) for row in rows("prices")]
    return min(found), max(found)
