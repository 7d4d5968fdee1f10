"""Which limits a model misses and by how much, and which of two models is better."""

from collections.abc import Sequence
from dataclasses import dataclass

from niwaki.run.search_settings import SearchSettings

MB = 1e6


@dataclass(frozen=True)
class Figures:
    """What is known of a model. None is unknown, and misses no limit."""

    kept: float  # share of the source's score
    bytes: float
    latency_ms: float | None = None  # median of one text
    p99_ms: float | None = None
    throughput: float | None = None  # texts per second
    joules_per_1000: float | None = None


def shortfalls(figures: Figures, settings: SearchSettings) -> dict[str, float]:
    """The limits that are missed: how much too large or too small, relative to the limit."""
    least = settings.min_score_share
    upper = {
        "max_mb": (figures.bytes / MB, settings.max_mb),
        "max_p99_ms": (figures.p99_ms, settings.max_p99_ms),
        "max_joules_per_1000": (figures.joules_per_1000, settings.max_joules_per_1000),
    }
    lower = {"min_throughput": (figures.throughput, settings.min_throughput), "keep": (figures.kept, least or None)}
    found = {name: value / limit - 1 for name, (value, limit) in upper.items() if value is not None and limit}
    found |= {name: 1 - value / limit for name, (value, limit) in lower.items() if value is not None and limit}
    return {name: amount for name, amount in found.items() if amount > 0}


def cost(figures: Figures, source: Figures, objective: str) -> float:
    """What the objective minimizes, relative to the source; infinite if it is unknown."""
    if objective == "score":
        return 1 / figures.kept if figures.kept > 0 else float("inf")
    attribute = {"bytes": "bytes", "latency": "latency_ms", "joules": "joules_per_1000"}[objective]
    value, whole = getattr(figures, attribute), getattr(source, attribute)
    return float("inf") if value is None or not whole else float(value / whole)


def loss(figures: Figures, source: Figures, settings: SearchSettings) -> float:
    """Below 1 within all limits, by the objective; above 1 by the sum of the relative violations."""
    missed = shortfalls(figures, settings)
    if missed:
        return 1 + min(sum(missed.values()), 1e6)
    found = cost(figures, source, settings.objective)
    return found / (1 + found) if found < float("inf") else 1.0


def best(candidates: Sequence[Figures], source: Figures, settings: SearchSettings) -> int | None:
    """The position of the best candidate; if none is within the limits, of the nearest one. Equal ones: the higher score."""
    if not candidates:
        return None
    return min(
        range(len(candidates)),
        key=lambda number: (loss(candidates[number], source, settings), -candidates[number].kept, number),
    )


def missed_lines(figures: Figures, settings: SearchSettings) -> list[str]:
    """One line for each limit that is missed."""
    texts = {
        "max_mb": f"size {figures.bytes / MB:.3g} MB, limit {settings.max_mb} MB",
        "max_p99_ms": f"p99 latency {_number(figures.p99_ms)} ms, limit {settings.max_p99_ms} ms",
        "max_joules_per_1000": f"energy {_number(figures.joules_per_1000)} J per 1,000 texts, limit {settings.max_joules_per_1000} J",
        "min_throughput": f"{_number(figures.throughput)} texts/s, limit {settings.min_throughput} texts/s",
        "keep": f"keeps {figures.kept:.1%} of the score, limit {settings.min_score_share:.1%}",
    }
    return [f"{name}: {texts[name]} (missed by {amount:.1%})" for name, amount in shortfalls(figures, settings).items()]


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
