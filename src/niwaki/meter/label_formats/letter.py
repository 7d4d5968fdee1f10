"""The energy class from A to G, as one line."""

from niwaki.core.json_types import Json
from niwaki.meter.energy_label import EnergyLabel, energy_label
from niwaki.meter.label_formats._format import LabelData, LabelFormat


class Letter(LabelFormat):
    def fields(self, data: LabelData) -> Json:
        label = label_of(data)
        return {
            "name": data.name,
            "class": label.letter,
            "classes": label.letters,
            "joules_per_1000": label.joules_per_1000,
            "joules_low": label.low,
            "joules_high": label.high,
            "tier": data.inference.tier,
            "task": data.task,
            "quality": data.quality,
            "cpu": data.cpu,
            "shown": ", ".join(part for part in (label.figure(), label.interval()) if part),
        }

    def text(self, fields: Json) -> str:
        quality = fields["quality"] or "quality not stated"
        return f"{fields['name']}: class {fields['classes']}, {fields['shown']}, {fields['tier']}; {quality}; {fields['cpu']}"


def label_of(data: LabelData) -> EnergyLabel:
    used = data.inference
    return energy_label(
        used.joules, used.joules_low, used.joules_high, name=data.name, task=data.task, quality=data.quality
    )
