"""Budgets such as "10MB", "5ms" and "2min": limits on the size of the model, its latency, and the time to compress it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from niwaki.core.errors import UsageError

UNITS = {
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "ms": ("latency_ms", 1.0),
    "s": ("seconds", 1.0),
    "min": ("seconds", 60.0),
    "h": ("seconds", 3600.0),
}
RULE = "is a number and a unit: kB, MB or GB (size), ms (latency of one text), s, min or h (time to compress)"
LIMIT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


@dataclass(frozen=True)
class Budget:
    """None is no limit."""

    bytes: float | None = None
    latency_ms: float | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        limits = {"bytes": 1e-6, "latency_ms": 1.0, "seconds": 1.0}
        units = {"bytes": "MB", "latency_ms": "ms", "seconds": "s"}
        given = {name: getattr(self, name) for name in limits if getattr(self, name) is not None}
        return ", ".join(f"{value * limits[name]:g} {units[name]}" for name, value in given.items())


def parse_budget(given: str | Sequence[str] | None) -> Budget:
    """One limit, several separated by commas, or a list of them; at most one of each kind.

    >>> parse_budget("10MB, 5ms")
    Budget(bytes=10000000.0, latency_ms=5.0, seconds=None)
    """
    limits: dict[str, float] = {}
    for text in _texts(given):
        name, value = _limit(text)
        if name in limits:
            raise UsageError(f"budget '{text}': a limit of this kind is given already; give one of each kind")
        limits[name] = value
    return Budget(**limits)


def _texts(given: str | Sequence[str] | None) -> list[str]:
    if given is None:
        return []
    listed = given.split(",") if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or not all(isinstance(text, str) for text in listed):
        raise UsageError(f"budget: must be text such as '10MB', or a list of them (given: {type(given).__name__})")
    return list(listed)


def _limit(text: str) -> tuple[str, float]:
    found = LIMIT.fullmatch(text)
    if not found or found[2] not in UNITS:
        raise UsageError(f"budget '{text.strip()[:40]}': {RULE}; write e.g. 10MB")
    name, factor = UNITS[found[2]]
    if not 0 < (value := float(found[1]) * factor) < 1e15:
        raise UsageError(f"budget '{text.strip()[:40]}': must be more than 0; write e.g. 10MB")
    return name, value
