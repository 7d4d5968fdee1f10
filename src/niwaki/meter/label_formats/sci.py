"""Software Carbon Intensity (ISO/IEC 21031:2024): SCI = ((E × I) + M) per R, with R = 1,000 inferences.

E is the energy in kWh with the overhead of the data centre, I the grid's intensity in g CO2e per kWh, M the share of the machine's
embodied carbon for the time used. A score needs all three; the label says which one is missing.
"""

import json

from niwaki.core.json_types import Json
from niwaki.meter.label_formats._format import NO_PLACE, UNIT, LabelData, LabelFormat
from niwaki.meter.reading import KWH

NO_ENERGY = "energy was not measured"
NO_EMBODIED = "the machine's embodied carbon is not known; give --embodied-kg and --lifetime-years"


class SoftwareCarbonIntensity(LabelFormat):
    def fields(self, data: LabelData) -> Json:
        energy, intensity, share = energy_term(data), intensity_term(data), embodied_term(data)
        terms = (energy["value"], intensity["value"], share["value"])
        reasons = dict(zip("EIM", (NO_ENERGY, NO_PLACE, NO_EMBODIED), strict=True))
        missing = {name: reasons[name] for name, value in zip("EIM", terms, strict=True) if value is None}
        operational = terms[0] * terms[1] if None not in terms[:2] else None
        return {
            "standard": "ISO/IEC 21031:2024",
            "name": data.name,
            "R": {"value": UNIT, "unit": "inferences"},
            "E": energy,
            "I": intensity,
            "M": share,
            "operational": {"value": operational, "unit": "g CO2e per R"},
            "SCI": {"value": None if missing else operational + terms[2], "unit": "g CO2e per R"},
            "missing": missing,
            "boundary": f"the process that runs the model on {data.cpu}; no network, no training",
        }

    def text(self, fields: Json) -> str:
        return json.dumps(fields, indent=2, ensure_ascii=False)


def energy_term(data: LabelData) -> Json:
    used = data.inference
    low, high = (None if end is None else end / KWH * data.pue for end in (used.joules_low, used.joules_high))
    value = {"value": data.kwh(used), "low": low, "high": high, "unit": "kWh per R"}
    return {**value, "pue": data.pue, "source": used.tier}


def intensity_term(data: LabelData) -> Json:
    recorded = data.inference.detail.get("grid") or {}
    if data.grid is None:
        return {
            "value": recorded.get("grams_per_kwh"),
            "unit": "g CO2e per kWh",
            "place": recorded.get("place"),
            "source": "as recorded" if recorded else None,
        }
    source = f"{data.grid.source} {data.grid.year}".strip()
    return {"value": data.grid.grams_per_kwh, "unit": "g CO2e per kWh", "place": data.grid.place, "source": source}


def embodied_term(data: LabelData) -> Json:
    if data.hardware is None:
        return {"value": None, "unit": "g CO2e per R"}
    return {
        "value": data.hardware.grams(data.inference.seconds),
        "unit": "g CO2e per R",
        "machine_kg": data.hardware.machine_kg,
        "lifetime_years": data.hardware.lifetime_years,
        "share": data.hardware.share,
        "seconds": data.inference.seconds,
    }
