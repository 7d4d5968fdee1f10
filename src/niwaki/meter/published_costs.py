"""Published accounts of known models, worked out again from their inputs, and familiar amounts to compare with."""

from niwaki.core.json_types import Json
from niwaki.meter.reading import Reading, significant
from niwaki.meter.tables import rows

POUND_GRAMS = 453.592
STRUBELL_PUE = 1.58
STRUBELL_POUNDS_PER_KWH = 0.954


def strubell() -> list[Json]:
    """Strubell et al. 2019, Table 3: kWh × PUE, pounds of CO2e and the range of cloud cost."""
    prices = {row["name"]: row for row in rows("gpu_prices")}
    return [_strubell_row(row, prices[row["chip"]]) for row in rows("strubell")]


def _strubell_row(row: dict[str, str], price: dict[str, str]) -> Json:
    hours, chips = float(row["hours"]), int(row["chips"])
    kwh = STRUBELL_PUE * hours * float(row["watts"]) / 1000
    return {
        "model": row["model"],
        "hardware": f"{row['chip']} × {chips}",
        "watts": float(row["watts"]),
        "hours": hours,
        "kwh_pue": kwh,
        "co2e_pounds": STRUBELL_POUNDS_PER_KWH * kwh,
        "usd_low": chips * hours * float(price["usd_preemptible"]),
        "usd_high": chips * hours * float(price["usd_on_demand"]),
        "source": row["source"],
        "year": int(row["year"]),
    }


def patterson() -> list[Json]:
    """Patterson et al. 2021, Table 4: energy and gross emissions from chips, days, watts, PUE and grid."""
    return [_patterson_row(row) for row in rows("patterson")]


def _patterson_row(row: dict[str, str]) -> Json:
    hours, chips = float(row["days"]) * 24, int(row["chips"])
    mwh = chips * hours * float(row["watts"]) * float(row["pue"]) / 1e6
    return {
        "model": row["model"],
        "hardware": f"{row['chip']} × {chips}",
        "days": float(row["days"]),
        "mwh": mwh,
        "co2e_tonnes": mwh * float(row["kg_per_kwh"]),
        "flops": chips * hours * 3600 * float(row["tflops_per_second"]) * 1e12,
        "published_mwh": float(row["published_mwh"]),
        "published_net_tonnes": float(row["published_net_tonnes"]),
        "source": row["source"],
        "year": int(row["year"]),
    }


def equivalents(co2e_grams: float) -> list[Json]:
    """`co2e_grams` as parts or multiples of a flight, a year of a life, a car."""
    return [
        {
            "what": row["what"],
            "times": co2e_grams / (float(row["pounds"]) * POUND_GRAMS),
            "grams": float(row["pounds"]) * POUND_GRAMS,
            "source": row["source"],
            "year": int(row["year"]),
        }
        for row in rows("equivalents")
    ]


def describe_equivalents(reading: Reading) -> str:
    """A reading's CO2e with everyday equivalents, in one line; without a place the world's average is assumed, and stated."""
    grams, how = reading.co2e_grams, ""
    if grams is None:
        grams, how = reading.detail.get("co2e_assumed_grams"), " (assumed: the world's average electricity)"
    if not grams:
        return ""
    least = "at least " if reading.detail.get("unknown_charges") else ""
    parts = [f"{significant(row['times'])} of a {row['what']}" for row in equivalents(grams)]
    return f"{least}{significant(grams)} g CO2e{how} is {'; '.join(parts)}"
