"""One figure that can be believed: seconds, joules with a low and a high, the tier they come from, CO2e and money."""

from dataclasses import asdict, dataclass, field, fields, replace

from niwaki.core.json_types import Json

TIERS = ("measured", "apportioned", "estimated", "unknown")  # best first
SUMMED_DETAIL = ("idle_joules", "co2e_assumed_grams", "co2e_low_grams", "co2e_high_grams", "repeats")
KWH = 3.6e6  # joules


@dataclass(frozen=True)
class Reading:
    """What one window, or a sum of windows, cost. None means not known; it is never written as 0."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    joules: float | None = None  # attributed: the machine's idle draw is shared out by the capacity used
    joules_low: float | None = None
    joules_high: float | None = None
    marginal_joules: float | None = None  # only what would not have been spent had the work not been done
    tier: str = "unknown"
    source: str = ""  # the reader that gave the joules
    co2e_grams: float | None = None  # None without a place
    usd: float | None = None  # None without a price
    detail: Json = field(default_factory=dict)

    @classmethod
    def zero(cls) -> "Reading":
        """The neutral element of +: no time, no work."""
        return cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "measured", co2e_grams=0.0, usd=0.0)

    def to_dict(self) -> Json:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Json) -> "Reading":
        """Takes back what `to_dict` gave; keys of a later version are passed over."""
        known = {part.name for part in fields(cls)}
        return cls(**{key: value for key, value in values.items() if key in known})

    def __add__(self, other: "Reading") -> "Reading":
        if not isinstance(other, Reading):
            return NotImplemented
        if other.is_zero or self.is_zero:
            return self if other.is_zero else other
        return Reading(
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
            # lows and highs add up linearly: the error is in the same constants, so it does not average out
            _sum(self.joules, other.joules),
            _sum(self.joules_low, other.joules_low),
            _sum(self.joules_high, other.joules_high),
            _sum(self.marginal_joules, other.marginal_joules),
            max(self.tier, other.tier, key=TIERS.index),
            _join(self.source, other.source),
            _sum(self.co2e_grams, other.co2e_grams),
            _sum(self.usd, other.usd),
            _merge(self.detail, other.detail),
        )

    def scaled(self, factor: float) -> "Reading":
        """The same work, more or less of it: per 1,000 texts, per day."""
        amounts = (
            "seconds",
            "cpu_seconds",
            "joules",
            "joules_low",
            "joules_high",
            "marginal_joules",
            "co2e_grams",
            "usd",
        )
        scaled = {name: value * factor for name in amounts if (value := getattr(self, name)) is not None}
        return replace(self, **scaled)

    def __radd__(self, other: object) -> "Reading":
        return self if other == 0 else NotImplemented  # so that sum(readings) works

    @property
    def is_zero(self) -> bool:
        return self.seconds == 0 and self.cpu_seconds == 0 and self.joules == 0

    @property
    def kwh(self) -> float | None:
        return None if self.joules is None else self.joules / KWH

    def __str__(self) -> str:
        parts = [_energy(self), f"{significant(self.cpu_seconds, 3)} CPU s in {significant(self.seconds, 3)} s"]
        if self.co2e_grams is not None:
            parts.append(f"{significant(self.co2e_grams)} g CO2e")
        if self.usd is not None:
            parts.append(f"${significant(self.usd)}")
        if self.detail.get("not_counted"):
            parts.append(f"not counted: {', '.join(self.detail['not_counted'])}")
        if self.detail.get("overlaps"):
            parts.append("overlaps another window")
        return ", ".join(parts)


def with_parallel(own: Reading, other: Reading, same_machine: bool) -> Reading:
    """With what another process spent at the same time: it took no more seconds, and on the same machine no more rent."""
    detail: Json = {**other.detail, "repeats": 0}
    if same_machine:
        once = {"idle_joules": 0.0, "usd_assumed": [0.0, 0.0]}
        detail |= {key: none for key, none in once.items() if key in detail}
        other = replace(other, usd=None if other.usd is None else 0.0)
    return own + replace(other, seconds=0.0, detail=detail)


def _energy(reading: Reading) -> str:
    if reading.joules is None:
        return "energy unknown"
    least = "at least " if reading.detail.get("unknown_charges") else ""
    digits = 3 if reading.tier == "measured" else 2  # more digits than the tier carries would be a false promise
    text = f"{least}{significant(reading.joules, digits)} J"
    if reading.joules_low is not None and reading.joules_high is not None:
        text += f" ({significant(reading.joules_low, digits)} to {significant(reading.joules_high, digits)})"
    return f"{text} {reading.tier}"


def significant(value: float, digits: int = 2) -> str:
    """`value` rounded to significant digits, without exponent in the everyday range: 8412 -> 8400, 0.01234 -> 0.012."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    if not 1e-4 <= abs(rounded) < 1e7:
        return f"{rounded:.{digits - 1}e}"
    decimals = max(0, digits - 1 - int(f"{rounded:e}".partition("e")[2]))
    return f"{rounded:.{decimals}f}"


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _join(one: str, other: str) -> str:
    return " + ".join(dict.fromkeys(part for text in (one, other) for part in text.split(" + ") if part))


def _merge(one: Json, other: Json) -> Json:
    """Details of a sum: amounts add up, constants are listed once, warnings stay; what was one window's goes."""
    merged: Json = {key: _sum(one.get(key), other.get(key)) for key in SUMMED_DETAIL if key in one or key in other}
    for key in ("constants", "not_counted"):
        merged[key] = list({repr(item): item for side in (one, other) for item in side.get(key, [])}.values())
    for key in ("grid", "price"):
        if one.get(key) == other.get(key) is not None:
            merged[key] = one[key]
    if "usd_assumed" in one and "usd_assumed" in other:
        merged["usd_assumed"] = [sum(pair) for pair in zip(one["usd_assumed"], other["usd_assumed"], strict=True)]
    merged["overlaps"] = bool(one.get("overlaps") or other.get("overlaps"))
    merged["host"] = _worst_host(one.get("host") or {}, other.get("host") or {})
    return merged


def _worst_host(one: Json, other: Json) -> Json:
    """The busiest figures of the two: a sum is as disturbed as its most disturbed part."""
    pairs = {key: [side[key] for side in (one, other) if side.get(key) is not None] for key in {**one, **other}}
    return {key: max(values) if values else None for key, values in pairs.items()}
