"""Fields of AI Energy Score results, per 1,000 queries, without stars.

Stars compare the GPU energy of models on one NVIDIA H100. Energy on a CPU is on another scale, so stars stay null.
"""

import json

from niwaki.core.json_types import Json
from niwaki.meter.label_formats._format import UNIT, LabelData, LabelFormat

WH = 3600.0  # joules
NO_STARS = "stars rank GPU energy on an NVIDIA H100 among models of the same task; this model was measured on {}"


class AIEnergyScore(LabelFormat):
    def fields(self, data: LabelData) -> Json:
        used = data.inference
        watt_hours = None if used.joules is None else used.joules / WH
        return {
            "model_name": data.name,
            "model_class": None,
            "task": data.task or None,
            "total_prompts": UNIT,
            "total_duration_seconds": used.seconds,
            "avg_total_time": used.seconds / UNIT,
            "gpu_energy_wh": None,
            "wh_per_1000_queries": watt_hours,
            "avg_energy_per_prompt_wh": None if watt_hours is None else watt_hours / UNIT,
            "co2_emissions_g": data.grams(used),
            "timestamp": data.measured_at or None,
            "hardware": data.cpu,
            "energy_source": used.tier,
            "stars": None,
            "stars_reason": NO_STARS.format(data.cpu),
        }

    def text(self, fields: Json) -> str:
        return json.dumps(fields, indent=2, ensure_ascii=False)
