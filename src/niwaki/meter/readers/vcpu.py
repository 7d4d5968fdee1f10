"""CPU seconds × watts per vCPU, from whole-server figures. Works everywhere; an estimate with a wide band.

Attributed = Pmax × CPU-seconds: the idle draw is shared out by the part of the machine's capacity that was used.
Marginal = (Pmax - Pmin) × CPU-seconds. The idle draw of the rest of the machine is reported separately as `idle_joules`.
The figures are whole-server AC watts (memory, fans and supply included), so no memory term is added.
"""

from functools import cache

from niwaki.core.json_types import Json
from niwaki.meter.machine import processor
from niwaki.meter.reader import Energy, Reader, Usage, constant
from niwaki.meter.tables import rows

BAND_KNOWN = 2.0  # ×/÷, about 95 %: TDP-and-load models against RAPL on four known processors
BAND_GUEST = 3.0  # a virtual machine hides frequency, neighbours and often the true processor


class VCpu(Reader):
    """The fallback that always works, because the kernel always counts CPU seconds."""

    name = "vcpu"
    rank = 40
    covers = frozenset({"cpu"})

    def fault(self) -> str | None:
        return None

    def energy(self, before: object, after: object, usage: Usage) -> Energy:
        watts = watts_per_vcpu()
        joules = watts["max"] * usage.cpu_seconds
        idle_capacity = max(0.0, usage.seconds * usage.vcpus - usage.cpu_seconds)
        return Energy(
            joules,
            joules / watts["band"],
            joules * watts["band"],
            "estimated",
            f"CPU seconds × {watts['max']} W per vCPU ({watts['platform']})",
            marginal=(watts["max"] - watts["min"]) * usage.cpu_seconds,
            constants=watts["constants"],
            extra={"idle_joules": watts["min"] * idle_capacity},
        )


@cache
def watts_per_vcpu() -> Json:
    return watts_of(processor())


def watts_of(cpu: Json) -> Json:
    """Idle and full watts per vCPU of a processor, with the band they deserve."""
    row = _row_of(cpu)
    known = row["platform"] != "unknown"
    band = BAND_KNOWN if known and cpu["virtualised"] is False else BAND_GUEST
    low, high = float(row["min_watts"]), float(row["max_watts"])
    return {
        "platform": row["platform"],
        "min": low,
        "max": high,
        "band": band,
        "constants": [
            constant("watts per vCPU, idle", low, "W", row["source"], row["year"]),
            constant("watts per vCPU, full load", high, "W", row["source"], row["year"]),
            constant("band", band, "×/÷", "niwaki docs/measuring.md", 2026),
        ],
    }


def _row_of(cpu: Json) -> dict[str, str]:
    named = {row["platform"]: row for row in rows("watts")}
    for entry in rows("processors"):
        if _matches(entry, cpu):
            return named[entry["platform"]]
    return named["unknown"]


def _matches(entry: dict[str, str], cpu: Json) -> bool:
    if entry["vendor"] != cpu["vendor"] or int(entry["family"]) != cpu["family"]:
        return False
    return all(
        int(entry[f"{part}_from"]) <= (cpu[part] if cpu[part] is not None else -1) <= int(entry[f"{part}_to"])
        for part in ("model", "stepping")
    )
