"""What a label is made from, and the base of the formats."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.meter.carbon import Grid, embodied
from niwaki.meter.reading import KWH, Reading

FORMATS = Catalog("niwaki.meter.label_formats", what="label format", plugins=False)
UNIT = 1000  # inferences that all figures are for
NO_PLACE = "the place of the electricity is not known; give --place, e.g. FRA, or grams of CO2e per kWh"


@dataclass(frozen=True)
class Hardware:
    """The embodied carbon of the machine, for the M of an SCI score."""

    machine_kg: float
    lifetime_years: float
    share: float = 1.0  # of the machine that is reserved for the model

    def grams(self, seconds: float) -> float:
        return float(embodied(seconds, self.machine_kg, self.lifetime_years, self.share)["embodied_grams"])


@dataclass(frozen=True)
class LabelData:
    """One model: the energy of 1,000 inferences and, if known, of its training."""

    name: str
    inference: Reading
    training: Reading | None = None
    task: str = ""
    quality: str = ""  # e.g. "accuracy 82.1 %"
    machine: Json = field(default_factory=dict)  # as `meter.machine.machine` gives it
    measured_at: str = ""  # ISO 8601
    grid: Grid | None = None
    hardware: Hardware | None = None

    @property
    def cpu(self) -> str:
        return str(self.machine.get("cpu") or "unknown CPU")

    def kwh(self, reading: Reading) -> float | None:
        """With the overhead of the data centre, if it is known."""
        return None if reading.joules is None else reading.joules / KWH * self.pue

    @property
    def pue(self) -> float:
        return self.grid.pue if self.grid else 1.0

    def grams(self, reading: Reading) -> float | None:
        """CO2e in grams: for the given grid, else as it was recorded."""
        if self.grid is None:
            return reading.co2e_grams
        return None if reading.joules is None else self.grid.grams(reading.joules)

    def place(self) -> str | None:
        recorded = (self.inference.detail.get("grid") or {}).get("place")
        return self.grid.place if self.grid else recorded


class LabelFormat(ABC):
    """Base of the files in this folder."""

    @abstractmethod
    def fields(self, data: LabelData) -> Json:
        """The label as plain data."""

    @abstractmethod
    def text(self, fields: Json) -> str:
        """The same as the other tool reads it."""


def render(name: str, data: LabelData) -> tuple[Json, str]:
    """A label in a format of the catalogue, as data and as text."""
    shape = FORMATS.load(name, LabelFormat)()
    fields = shape.fields(data)
    return fields, shape.text(fields)


def known(value: float | None, problem: str) -> float:
    """Raises InputError if a value that a format needs is not known."""
    if value is None:
        raise InputError(f"label: {problem}")
    return value
