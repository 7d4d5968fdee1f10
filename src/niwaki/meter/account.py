"""Computes a Reading from two samples of the counters, on demand, so that a window itself stays cheap."""

import os
from typing import TYPE_CHECKING

from niwaki.core.json_types import Json
from niwaki.meter.carbon import world
from niwaki.meter.machine import Host
from niwaki.meter.money import assumed_range
from niwaki.meter.reader import LOST, Energy, Usage
from niwaki.meter.readers.vcpu import VCpu
from niwaki.meter.reading import TIERS, Reading

GPU_FILE = "/dev/nvidia0"

if TYPE_CHECKING:
    from niwaki.meter.window import Snapshot, Window


def account(window: "Window", before: "Snapshot", after: "Snapshot", vcpus: int) -> Reading:
    usage = usage_between(before, after, vcpus)
    parts, distrusted = energies(window, before, after, usage)
    joules = sum(part.joules for part in parts) if parts else None
    return Reading(
        seconds=usage.seconds,
        cpu_seconds=usage.cpu_seconds,
        joules=joules,
        joules_low=sum(part.low for part in parts) if parts else None,
        joules_high=sum(part.high for part in parts) if parts else None,
        marginal_joules=_marginal(parts),
        tier=max((part.tier for part in parts), key=TIERS.index, default="unknown"),
        source=" + ".join(part.source for part in parts),
        co2e_grams=window.grid.grams(joules) if window.grid and joules is not None else None,
        usd=window.price.usd(usage.seconds, vcpus) if window.price else None,
        detail=_detail(window, before, after, usage, parts, distrusted),
    )


def usage_between(before: "Snapshot", after: "Snapshot", vcpus: int) -> Usage:
    # a window carried through fork() ends in a process whose counters began at 0
    cpu = after.cpu - before.cpu if after.pid == before.pid else after.cpu
    return Usage(after.at - before.at, max(0.0, cpu), vcpus, _host_busy(before.host, after.host))


def _host_busy(before: Host | None, after: Host | None) -> float | None:
    if before is None or after is None or before is after:
        return None
    return after.busy_seconds - before.busy_seconds


def energies(window: "Window", before: "Snapshot", after: "Snapshot", usage: Usage) -> tuple[list[Energy], list[str]]:
    """One per part of the machine, and which readers could not be believed in this window."""
    parts: list[Energy] = []
    distrusted: list[str] = []
    for reader, first, last in zip(window.sources.chosen, before.counters, after.counters, strict=True):
        energy = None if LOST in (first, last) else reader.energy(first, last, usage)
        if energy is not None:
            parts.append(energy)
            continue
        distrusted.append(reader.name)
        if "cpu" in reader.covers:  # CPU seconds are always there, so the estimate can always step in
            parts.append(VCpu().energy(None, None, usage))
    return parts, distrusted


def _marginal(parts: list[Energy]) -> float | None:
    known = [part.marginal for part in parts if part.marginal is not None]
    return sum(known) if parts and len(known) == len(parts) else None


def _detail(
    window: "Window", before: "Snapshot", after: "Snapshot", usage: Usage, parts: list[Energy], distrusted: list[str]
) -> Json:
    constants = [item for part in parts for item in part.constants]
    detail: Json = {
        "repeats": 1,
        "overlaps": window.overlaps,
        "host": _host(before.host, after),
        "passed_over": window.sources.passed,
        "distrusted": distrusted,
        "not_counted": _not_counted(window, distrusted),
    }
    for part in parts:
        detail |= part.extra
    if len(parts) > 1:
        detail["parts"] = [_brief(part) for part in parts]
    constants += _carbon(window, parts, detail) + _money(window, usage, detail)
    detail["constants"] = constants
    return detail


def _brief(part: Energy) -> Json:
    return {key: getattr(part, key) for key in ("source", "joules", "low", "high", "tier")}


def _carbon(window: "Window", parts: list[Energy], detail: Json) -> list[Json]:
    """Adds the CO2e range of a named place, or the world average as an assumption; gives back the constants used."""
    if window.grid is None:
        assumed = world(window.pue)
        detail["co2e_assumed_grams"] = assumed.grams(sum(part.joules for part in parts)) if parts else None
        return [{**item, "assumed": True} for item in assumed.constants()]
    detail["grid"] = {"place": window.grid.place, "grams_per_kwh": window.grid.grams_per_kwh, "pue": window.grid.pue}
    detail["co2e_low_grams"] = window.grid.grams(sum(part.low for part in parts)) if parts else None
    detail["co2e_high_grams"] = window.grid.grams(sum(part.high for part in parts)) if parts else None
    return window.grid.constants()


def _money(window: "Window", usage: Usage, detail: Json) -> list[Json]:
    if window.price is None:
        vcpu_hours = usage.seconds / 3600 * usage.vcpus
        detail["usd_assumed"] = [vcpu_hours * usd for usd in assumed_range()]
        return []
    detail["price"] = {"usd_per_vcpu_hour": window.price.usd_per_vcpu_hour}
    return window.price.constants()


def _host(before: Host | None, look: "Snapshot") -> Json:
    """Load, and the shares of the machine that were busy or stolen during the window; None when it was too short."""
    after = look.host
    shares: Json = {"load": look.load, "busy": None, "steal": None}
    if before is not None and after is not None and before is not after:
        total = after.total_seconds - before.total_seconds
        if total > 0:
            shares["busy"] = (after.busy_seconds - before.busy_seconds) / total
            shares["steal"] = (after.steal_seconds - before.steal_seconds) / total
    return shares


def _not_counted(window: "Window", distrusted: list[str]) -> list[str]:
    counted = {part for reader in window.sources.chosen if reader.name not in distrusted for part in reader.covers}
    return ["gpu"] if os.path.exists(GPU_FILE) and "gpu" not in counted else []  # noqa: PTH110 - cheaper
