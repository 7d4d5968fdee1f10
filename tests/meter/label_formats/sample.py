"""A model whose label can be computed by hand: 36 J for 1,000 inferences in 2 s, 7,200 J for training in 120 s."""

from niwaki.meter.carbon import grid
from niwaki.meter.label_formats._format import Hardware, LabelData
from niwaki.meter.reading import Reading

INFERENCE = Reading(2.0, 4.0, 36.0, 12.0, 108.0, tier="estimated")
TRAINING = Reading(120.0, 240.0, 7200.0, 3600.0, 14400.0, tier="estimated")
MACHINE = {"cpu": "Example CPU", "vcpus": 2, "memory_bytes": 8 << 30}
WITHOUT_PLACE = LabelData("demo-int8", INFERENCE, TRAINING, "sst2", "accuracy 90 %", MACHINE, "2026-11-18T10:00:00")
SAMPLE = LabelData(
    "demo-int8",
    INFERENCE,
    TRAINING,
    "sst2",
    "accuracy 90 %",
    MACHINE,
    "2026-11-18T10:00:00",
    grid=grid(500, 1.2),
    hardware=Hardware(machine_kg=1000, lifetime_years=4, share=0.5),
)
