"""When a compression has paid for itself: what it spent ÷ what each inference saves. On one host the watts cancel.

Spent is everything the ledger holds, failed attempts included. Saved is the trimmed mean difference of interleaved pairs,
with an interval; where that reaches zero nothing is promised.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json
from niwaki.meter.compare import Interval, difference, ratio
from niwaki.meter.reading import KWH, Reading, significant

NOT_SHOWN = "no payback shown"
DAYS_A_YEAR = 365


@dataclass(frozen=True)
class Payback:
    """`shown` is False when the saving is not significantly different from zero; then the other figures are None."""

    shown: bool
    words: str
    unit: str  # of the samples: "cpu_seconds" or "joules"
    pairs: int
    saved_per_1000: Interval
    ratio: Interval  # before ÷ after
    inferences: Interval | None = None  # to pay back
    days: Interval | None = None  # at `per_day`
    kwh_a_year: Interval | None = None
    kg_a_year: Interval | None = None  # None without a place
    usd_a_year: Interval | None = None  # None without a price

    def to_dict(self) -> Json:
        return asdict(self)


def payback(
    spent: Reading,
    before: Sequence[float],  # per 1,000 inferences; before[i] and after[i] were measured one after the other
    after: Sequence[float],
    per_day: float | None = None,
    unit: str = "cpu_seconds",
) -> Payback:
    amount = _amount(spent, unit)
    if per_day is not None and not per_day > 0:
        raise UsageError(f"per_day: {per_day} inferences a day is not a volume; give a number above 0")
    saved, times = difference(before, after), ratio(before, after)
    fault = _fault(spent, unit, amount, saved)
    if amount is None or fault:
        return Payback(False, f"{NOT_SHOWN}: {fault}", unit, len(before), saved, times)
    inferences = Interval(*(1000 * amount / part for part in (saved.value, saved.high, saved.low)))
    volume = _volume(spent, unit, saved, inferences, per_day) if per_day else {}
    return Payback(True, _words(spent, inferences, volume), unit, len(before), saved, times, inferences, **volume)


def _amount(spent: Reading, unit: str) -> float | None:
    if unit not in ("cpu_seconds", "joules"):
        raise UsageError(f"unit: '{unit}' is not known; the samples are cpu_seconds or joules")
    return spent.cpu_seconds if unit == "cpu_seconds" else spent.joules


def _fault(spent: Reading, unit: str, amount: float | None, saved: Interval) -> str:
    if amount is None:
        return "what the compression spent is not known"
    if unit == "cpu_seconds" and "NVML" in spent.source:
        return "the compression used a GPU, which CPU seconds do not tell; give samples in joules"
    if saved.high <= 0:
        return "the second model does not spend less than the first"
    if saved.low <= 0:
        return "the saving is not significantly different from zero; measure more pairs"
    return ""


def _volume(
    spent: Reading, unit: str, saved: Interval, inferences: Interval, per_day: float
) -> dict[str, Interval | None]:
    thousands = per_day * DAYS_A_YEAR / 1000
    yearly = Interval(saved.value * thousands, saved.low * thousands, saved.high * thousands)
    kwh = _kwh(spent, unit, yearly)
    grid, price = spent.detail.get("grid"), spent.detail.get("price")
    return {
        "days": Interval(inferences.value / per_day, inferences.low / per_day, inferences.high / per_day),
        "kwh_a_year": kwh,
        "kg_a_year": kwh.times(*[grid["grams_per_kwh"] * grid["pue"] / 1000] * 3) if kwh and grid else None,
        "usd_a_year": _usd(spent, unit, yearly, price["usd_per_vcpu_hour"]) if price else None,
    }


def _kwh(spent: Reading, unit: str, yearly: Interval) -> Interval | None:
    if unit == "joules":
        return yearly.times(*[1 / KWH] * 3)
    figures = (spent.joules_low, spent.joules, spent.joules_high)
    if None in figures or not spent.cpu_seconds:
        return None
    # the watts do not cancel here, so their band widens the range
    low, middle, high = (joules / spent.cpu_seconds / KWH for joules in figures if joules is not None)
    return yearly.times(low, middle, high)


def _usd(spent: Reading, unit: str, yearly: Interval, usd_per_vcpu_hour: float) -> Interval | None:
    """vCPU-hours no longer rented. Samples in joules tell it only where joules are CPU seconds × watts."""
    if unit == "joules" and not (spent.joules and spent.tier == "estimated"):
        return None
    seconds = 1.0 if unit == "cpu_seconds" else spent.cpu_seconds / (spent.joules or 1.0)
    return yearly.times(*[seconds / 3600 * usd_per_vcpu_hour] * 3)


def _words(spent: Reading, inferences: Interval, volume: dict[str, Interval | None]) -> str:
    least = "at least " if spent.detail.get("unknown_charges") else ""
    text = f"pays back after {least}{_range(inferences)} inferences"
    days = volume.get("days")
    if not days:
        return text
    saved = {"kWh": volume["kwh_a_year"], "kg CO2e": volume["kg_a_year"], "$": volume["usd_a_year"]}
    known = [f"{_range(figure)} {unit}" for unit, figure in saved.items() if figure]
    return f"{text}, {_range(days)} days" + (f"; a year then saves {', '.join(known)}" if known else "")


def _range(figure: Interval) -> str:
    return f"{_plain(figure.value)} ({_plain(figure.low)} to {_plain(figure.high)})"


def _plain(value: float) -> str:
    text = significant(value)
    return text if "e" in text or "." in text else f"{int(text):,}"
