"""Rows of CodeCarbon's emissions.csv, one for the training and one for 1,000 inferences.

Energy is in kWh, emissions in kg, power in W. Values that are not known stay empty.
"""

import csv
import io

from niwaki.core.json_types import Json
from niwaki.meter.emissions import COLUMNS, row_of
from niwaki.meter.label_formats._format import UNIT, LabelData, LabelFormat
from niwaki.meter.reading import Reading


class CodeCarbon(LabelFormat):
    def fields(self, data: LabelData) -> Json:
        parts = {"training": data.training, f"{UNIT} inferences": data.inference}
        return {"rows": [row(data, name, reading) for name, reading in parts.items() if reading is not None]}

    def text(self, fields: Json) -> str:
        file = io.StringIO()
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(fields["rows"])
        return file.getvalue().rstrip("\n")


def row(data: LabelData, experiment: str, reading: Reading) -> Json:
    grams, known = data.grams(reading), row_of(reading, data.name, data.machine)
    kilograms = None if grams is None else grams / 1000
    changed = {
        "timestamp": data.measured_at or known["timestamp"],
        "experiment_id": experiment,
        "emissions": kilograms,
        "emissions_rate": kilograms / reading.seconds if kilograms is not None and reading.seconds else None,
        **dict.fromkeys(("cpu_energy", "energy_consumed"), data.kwh(reading)),  # CodeCarbon includes the PUE
        "country_iso_code": data.place(),
        "pue": data.pue,
    }
    return {column: {**known, **changed}.get(column) for column in COLUMNS}
