"""Formats numbers: units, significant digits, ranges. None becomes "unknown", never 0."""

import math

from niwaki.core.json_types import Json

UNKNOWN = "unknown"
SHARES = {  # in per cent, differences in points; others (matthews, pearson, spearman) as plain numbers
    *(
        "accuracy",
        "precision",
        "recall",
        "f1",
        "f1_macro",
        "f1_micro",
        "f1_entities",
        "exact",
        "overlap",
        "mean",
        "bleu",
        "chrf",
    ),
}


def significant(value: float, digits: int = 2) -> str:
    """1234 → "1,200", 0.01234 → "0.012"; never in powers of ten between 1e-6 and 1e15."""
    if value == 0:
        return "0"
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.{digits - 1}e}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    if rounded and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))):
        places -= 1  # 0.996 rounds up into the next decade: 1.0, not 1.00
    return f"{rounded:,.{max(places, 0)}f}"


def score(metric: str | None, value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{_amount(metric, value)} %" if metric in SHARES else _amount(metric, value)


def scored(metric: str | None, row: Json) -> str:
    """The score of a stage or a baseline: "82.0 %", and where several seeds were run "82.0 % ± 0.3 (3 seeds)"."""
    seeds = row.get("seeds") or {"sd": None}
    spread = "" if seeds["sd"] is None else f" ± {_amount(metric, seeds['sd'])} ({len(seeds['values'])} seeds)"
    return score(metric, row["score"]) + spread


def score_with_interval(metric: str | None, row: Json) -> str:
    """The score with its interval: "82.0 % (79.6–84.4 %)"."""
    between = interval(metric, row["score_low"], row["score_high"])
    return scored(metric, row) + (f" ({between})" if between else "")


def interval(metric: str | None, low: float | None, high: float | None) -> str:
    """ "80.7–85.3 %", or nothing where no interval was computed."""
    if low is None or high is None:
        return ""
    dash = "–" if low >= 0 else " to "  # a dash next to a minus sign is hard to read
    return f"{_amount(metric, low)}{dash}{score(metric, high)}"


def difference(
    metric: str | None, value: float, low: float | None = None, high: float | None = None, sign: str = "+"
) -> str:
    """ "−0.4 points (−1.2 to +0.3)", "−0.012" for what is not a share; sign "-" leaves out the plus."""
    between = "" if low is None or high is None else f" ({_amount(metric, low, sign)} to {_amount(metric, high, sign)})"
    return f"{_amount(metric, value, sign)}{' points' if metric in SHARES else ''}{between}"


def _amount(metric: str | None, value: float, sign: str = "-") -> str:
    """In hundredths with one digit for a share, otherwise with three; with a real minus sign, and no −0.

    Values that would round to 0 get one more digit, so that an interval that excludes 0 does not end at 0.0.
    """
    amount, digits = (100 * value, 1) if metric in SHARES else (value, 3)
    digits += 0 < abs(amount) < 0.5 * 10**-digits
    return f"{amount:{sign}z.{digits}f}".replace("-", "−")


def share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def ratio(value: float | None, digits: int = 3) -> str:
    """ "7.3×", "13.8×", "250×"; two digits for what rests on estimates."""
    if value is None:
        return UNKNOWN
    return f"{value:.1f}×" if 1 <= value < 10 else f"{significant(value, digits if value >= 1 else 2)}×"


def ratio_range(low: float | None, high: float | None, digits: int = 3) -> str:
    """ "6.9–7.7×", or nothing where no range is known."""
    known = low is not None and high is not None and 0 < low < high
    return f"{ratio(low, digits).removesuffix('×')}–{ratio(high, digits)}" if known else ""


def times(value: float | None, better: str, worse: str, digits: int = 3) -> str:
    """ "7.3× smaller", or for a ratio below 1 "1.3× larger"; nothing where it is unknown or rounds to 1."""
    if value is None or value <= 0 or 0.95 < value < 1.05:
        return ""
    return f"{ratio(value, digits)} {better}" if value > 1 else f"{ratio(1 / value, digits)} {worse}"


def megabytes(value: float | None) -> str:
    return UNKNOWN if value is None else f"{significant(value / 1e6, 3)} MB"


def scaled(value: float | None, unit: str, digits: int = 3) -> str:
    """With k, M, G, T before the unit."""
    if value is None:
        return UNKNOWN
    factor, prefix = next(
        (pair for pair in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(value) >= pair[0]), (1, "")
    )
    return f"{significant(value / factor, digits)} {prefix}{unit}".rstrip()


def rate(value: float | None) -> str:
    return UNKNOWN if value is None else f"{significant(value, 3)}/s"


def milliseconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{significant(value, 3)} ms"


def duration(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if value < 100:
        return f"{significant(value, 2)} s"
    minutes = round(value / 60)
    return (
        f"{value / 60:.1f} min"
        if value < 600
        else f"{minutes} min"
        if minutes < 60
        else f"{minutes // 60} h {minutes % 60} min"
    )


def joule_unit(value: float) -> tuple[float, str]:
    return next(((f, u) for f, u in ((1e6, "MJ"), (1e3, "kJ"), (1, "J")) if value >= f), (1e-3, "mJ"))


def energy(reading: Json) -> str:
    """Two significant digits unless it was measured: an estimate must not look exact. A lower bound is marked as one."""
    joules = reading["joules"]
    if joules is None:
        return UNKNOWN
    factor, unit = joule_unit(joules)
    text = f"{significant(joules / factor, 3 if reading['tier'] == 'measured' else 2)} {unit}"
    return f"at least {text}" if reading.get("unknown") else text


def energy_range(reading: Json) -> str:
    """ "8.0–17 kJ", in the unit of the value itself; nothing where there is no range."""
    joules, low, high = reading["joules"], reading["joules_low"], reading["joules_high"]
    if joules is None or low is None or high is None or low == high:
        return ""
    factor, unit = joule_unit(joules)
    return f"{significant(low / factor)}–{significant(high / factor)} {unit}"


def energy_with_range(reading: Json) -> str:
    """With range and tier: "12 kJ (8.0–17 kJ, estimated)"."""
    between = energy_range(reading)
    return energy(reading) + (f" ({between}, {reading['tier']})" if between else "")


def carbon(reading: Json) -> str:
    grams = reading["co2e_grams"]
    if grams is None:
        return "no location set"
    return f"{significant(grams / 1000)} kg" if grams >= 1000 else f"{significant(grams)} g"


def money(reading: Json) -> str:
    return "no price set" if reading["usd"] is None else f"${significant(reading['usd'])}"
