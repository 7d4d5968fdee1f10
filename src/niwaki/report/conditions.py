"""Whether the machine was busy while speed was measured, and the sentence that then stands next to the figures."""

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.run_files import mapping, number

LIMITS = {"steal": 0.02, "others": 0.10, "spread": 0.30}  # above which a measurement counts as disturbed
WORDS = {
    "others": "other processes used {} of the CPU time",
    "steal": "the hypervisor took away {} of the CPU time",
    "spread": "laps of the same work differed by {}",
}
FIX = "Treat speed, energy and their ratios as rough. To measure again on a quiet machine, remove speed.json and run the recipe again"
Facts = Json


def conditions(speed: Facts, fix: str = FIX) -> Facts:
    """{"load", "steal", "others", "spread", "busy", "note"}; busy is null where nothing is known, as in older runs."""
    given = mapping(speed.get("conditions"))
    known = {key: number(given.get(key)) for key in ("load", *LIMITS)}
    measured = [key for key in LIMITS if known[key] is not None]
    beyond = [key for key in WORDS if (known[key] or 0.0) > LIMITS[key]]
    found = "; ".join(WORDS[key].format(_share(known[key])) for key in beyond)
    note = f"The machine was busy while speed was measured: {found}{_load(known['load'])}. {fix}." if beyond else ""
    return {**known, "busy": bool(beyond) if measured else None, "note": note}


def _share(value: float | None) -> str:
    return formatting.share(value).replace(".0 %", " %")


def _load(load: float | None) -> str:
    return "" if load is None else f" (load {load:.1f} at the start)"
