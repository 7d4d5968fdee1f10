"""A counter of the whole machine, and this process's share of it by CPU time."""

from niwaki.core.system import TICK_SECONDS
from niwaki.meter.reader import Usage

ALONE = 0.9  # from this share on the machine was ours, and the figure counts as measured


def apportion(joules: float, usage: Usage, error: float) -> tuple[float, float, float, str]:
    """Our joules, low, high and tier. `error` is the counter's own, as a part of 1."""
    low, share, high = shares(usage)
    tier = "measured" if share >= ALONE else "apportioned"
    return joules * share, joules * low * (1 - error), joules * high * (1 + error), tier


def shares(usage: Usage) -> tuple[float, float, float]:
    """Lowest, likely and highest share of the machine's busy time; its clock ticks make short windows uncertain."""
    ours = usage.cpu_seconds
    if ours == 0:
        return 0.0, 0.0, 0.0
    if usage.host_busy_seconds is None:
        least = min(1.0, ours / max(ours, usage.seconds * usage.vcpus))
        return least, least**0.5, 1.0
    doubt = TICK_SECONDS * usage.vcpus
    busy = max(usage.host_busy_seconds, ours)
    return ours / (busy + doubt), ours / busy, ours / max(busy - doubt, ours)
