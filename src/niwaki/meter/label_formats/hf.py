"""The `co2_eq_emissions` of a Hugging Face model card: grams of CO2e of the training."""

import json

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.meter.label_formats._format import NO_PLACE, LabelData, LabelFormat, known


class HuggingFace(LabelFormat):
    def fields(self, data: LabelData) -> Json:
        if data.training is None:
            raise InputError("label: no training was recorded for this model; give the folder of a run")
        return {"co2_eq_emissions": emissions(data)}

    def text(self, fields: Json) -> str:
        values = fields["co2_eq_emissions"]
        return "\n".join(["co2_eq_emissions:", *(f"  {key}: {json.dumps(value)}" for key, value in values.items())])


def emissions(data: LabelData) -> Json:
    assert data.training is not None
    return {
        "emissions": known(data.grams(data.training), NO_PLACE),
        "source": f"niwaki ({data.training.tier})",
        "training_type": "fine-tuning",
        "geographical_location": data.place(),
        "hardware_used": data.cpu,
    }
