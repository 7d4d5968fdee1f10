"""Joules to grams of CO2e, for a place that was named. No place, no figure: the world average is shown as assumed."""

import math
from dataclasses import dataclass
from functools import cache

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.json_types import Json
from niwaki.meter.reader import constant
from niwaki.meter.reading import KWH
from niwaki.meter.tables import rows


@dataclass(frozen=True)
class Grid:
    """Electricity of one place and the overhead of the building it is used in."""

    place: str
    grams_per_kwh: float
    source: str
    year: int | str
    pue: float = 1.0  # facility energy ÷ machine energy; 1 = the machine alone

    def grams(self, joules: float) -> float:
        return joules / KWH * self.pue * self.grams_per_kwh

    def constants(self) -> list[Json]:
        return [
            constant(f"grid intensity of {self.place}", self.grams_per_kwh, "g CO2e/kWh", self.source, self.year),
            constant("PUE", self.pue, "facility ÷ machine", "as given" if self.pue != 1 else "machine alone", ""),
        ]


def grid(place: str | float, pue: str | float | None = None) -> Grid:
    """The grid of an ISO 3166 code or country name, or of an own intensity in g/kWh (`120`, `"120"`)."""
    overhead = pue_of(pue)
    own = _number(place)
    if own is not None:
        if own < 0:
            raise InputError(f"place: an intensity of {place} g/kWh is below 0; give grams of CO2e per kWh")
        return Grid("own intensity", own, "as given", "", overhead)
    row = _known().get(str(place).strip().upper())
    if row is None:
        raise InputError(
            f"place: '{place}' is not in the grid table{_near(str(place))} (or give grams of CO2e per kWh)"
        )
    return Grid(row["code"], float(row["grams_per_kwh"]), row["source"], int(row["year"]), overhead)


def pue_of(pue: str | float | None) -> float:
    """A number, or a name of `tables/pue.csv`; None is 1, the machine alone."""
    if pue is None:
        return 1.0
    value = _number(pue)
    if value is None:
        named = {row["name"]: float(row["pue"]) for row in rows("pue")}
        if pue not in named:
            raise InputError(f"pue: '{pue}' is not known{did_you_mean(str(pue), list(named))}")
        return named[str(pue)]
    if value < 1:
        raise InputError(f"pue: {pue} is below 1; it is facility energy ÷ machine energy, so 1 or more")
    return value


def world(pue: str | float | None = None) -> Grid:
    """The world average: for display as an assumption, never as somebody's place."""
    row = rows("world")[0]
    return Grid("world average", float(row["grams_per_kwh"]), row["source"], int(row["year"]), pue_of(pue))


def places() -> list[dict[str, str]]:
    """All rows of the grid table."""
    return rows("grids")


@cache
def _known() -> dict[str, dict[str, str]]:
    by_code = {row["code"]: row for row in places()}
    return {**{row["name"].upper(): row for row in places()}, **by_code}


def _near(place: str) -> str:
    names = [row[part] for row in places() for part in ("code", "name")]
    hint = did_you_mean(place.title() if len(place) > 3 else place.upper(), names)
    return hint if hint.startswith(",") else "; give an ISO 3166 code such as FRA"  # 200 names would bury the hint


def _number(value: str | float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def embodied(seconds: float, machine_kg: float, lifetime_years: float, share: float = 1.0) -> Json:
    """Making of the machine, shared out by time used. Never added to CO2e of use: the inputs are the caller's own."""
    if machine_kg < 0 or lifetime_years <= 0 or not 0 <= share <= 1:
        raise InputError("embodied: give kilograms of 0 or more, years above 0 and a share of the machine from 0 to 1")
    grams = machine_kg * 1000 * share * seconds / (lifetime_years * 365 * 24 * 3600)
    given = constant("embodied carbon of the machine", machine_kg, "kg CO2e", "as given", "")
    years = constant("life of the machine", lifetime_years, "years", "as given", "")
    return {"embodied_grams": grams, "label": "assumed", "constants": [given, years]}
