"""Speed comparison: several ways to run the same texts, interleaved in one process, so that a noisy machine affects all alike."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from niwaki.answers._answer_type import Input
from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.machine_load import LoadMonitor
from niwaki.meter import Reading, Window, meter
from niwaki.meter.compare import interval, ratio, round_order

Runner = Callable[[Sequence[Input]], object]  # texts in, answers out
ROUNDS, SINGLES = 6, 20  # payback needs at least six pairs; single requests are timed in every round


@dataclass
class Timings:
    """The measurements of one contender, round by round."""

    per_second: list[float] = field(default_factory=list)
    latency_ms: list[float] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)


def race(
    contenders: Mapping[str, Runner],
    texts: Sequence[object],
    reference: str,
    rounds: int = ROUNDS,
    singles: int = SINGLES,
    window: Callable[[], Window] = meter,
) -> Json:
    """Throughput with interval, latency percentiles, energy, the ratios to `reference` from paired rounds, and how quiet the machine was."""
    names, laps = list(contenders), {name: Timings() for name in contenders}
    for runner in contenders.values():  # warm up: caches, thread pools, memory
        runner(texts[: max(1, len(texts) // 8)])
    gc.collect()
    watch, was_frozen = LoadMonitor(), gc.get_freeze_count() > 0
    gc.freeze()  # garbage collection between laps then takes no time, and none happens within a lap
    with progress("speed", rounds * len(contenders)) as update:
        for number in range(rounds):
            for place, which in enumerate(round_order(number, rounds, len(names))):
                _lap(contenders[names[which]], texts, singles, laps[names[which]], number, window())
                update(number * len(names) + place + 1, names[which])
    if not was_frozen:
        gc.unfreeze()
    conditions = watch.conditions(seconds(lap) for lap in laps.values())
    results = {name: _summary(lap, laps[reference], len(texts)) for name, lap in laps.items()}
    about = {"texts": len(texts), "rounds": rounds, "reference": reference, "conditions": conditions}
    return {"version": 1, **about, "contenders": results}


def _lap(runner: Runner, texts: Sequence[object], singles: int, laps: Timings, number: int, window: Window) -> None:
    gc.collect()
    with window:
        runner(texts)
    laps.readings.append(window.reading)
    laps.per_second.append(len(texts) / window.reading.seconds)
    for place in numpy_generator(number, "singles").integers(0, len(texts), singles):
        start = time.perf_counter()
        runner([texts[place]])
        laps.latency_ms.append((time.perf_counter() - start) * 1e3)


def energy_ratio(reference: Timings, laps: Timings) -> dict[str, float] | None:
    """The ratio from paired rounds; None if the energy of a round is unknown."""
    before, after = ([reading.joules or 0.0 for reading in timings.readings] for timings in (reference, laps))
    return asdict(ratio(before, after)) if min(*before, *after) > 0 else None


def seconds(laps: Timings) -> list[float]:
    return [reading.seconds for reading in laps.readings]


def _summary(laps: Timings, reference: Timings, texts: int) -> Json:
    p50, p95, p99 = (float(value) for value in np.percentile(laps.latency_ms, [50, 95, 99]))
    total = sum(laps.readings[1:], laps.readings[0])
    return {
        "throughput": asdict(interval(laps.per_second)),
        "latency_ms": {"p50": p50, "p95": p95, "p99": p99},
        "ratio": asdict(ratio(seconds(reference), seconds(laps))),
        "energy_ratio": energy_ratio(reference, laps),
        "energy_per_1000": total.scaled(1000 / (texts * len(laps.readings))).to_dict(),
        "per_second": laps.per_second,
        "cpu_seconds_per_1000": [reading.cpu_seconds * 1000 / texts for reading in laps.readings],
    }
