"""Times models in turns with the source, in one process, so that a busy machine affects all alike.

A time is the ratio to the source in the same rounds, multiplied by what the source took when the search began. Times of different trials
can therefore be compared, however busy the machine was.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from niwaki.answers._answer_type import Input
from niwaki.core.json_types import Json
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import speed
from niwaki.meter import Window
from niwaki.tasks._task import Task

TEXTS = 48
REFERENCE = "source"


def race(
    models: Mapping[str, tuple[Path, str]], source: tuple[Path, str], task: Task, window: Callable[[], Window]
) -> Json:
    """The result of `speed.race` for models by label, given as folder and engine, and the source."""
    texts: Sequence[Input] = task.inputs(task.splits()["validation"].slice(0, TEXTS))
    runners: dict[str, speed.Runner] = {REFERENCE: Predictor(*source).values}
    runners |= {label: Predictor(folder, engine).values for label, (folder, engine) in models.items()}
    return speed.race(runners, texts, REFERENCE, window=window)


def absolute(contender: Json) -> Json:
    """The times of a contender as measured."""
    return {
        "latency_ms": contender["latency_ms"]["p50"],
        "p99_ms": contender["latency_ms"]["p99"],
        "seconds_per_text": 1 / contender["throughput"]["value"],
        "joules_per_1000": contender["energy_per_1000"]["joules"],
    }


def relative(contender: Json, reference: Json, source: Json) -> Json:
    """The times of a contender, by its ratio to the reference and the times of the source when the search began."""
    own, other = absolute(contender), absolute(reference)
    found = {name: source[name] * own[name] / other[name] for name in ("latency_ms", "p99_ms")}
    energy = contender["energy_ratio"]
    return {
        **found,
        "seconds_per_text": source["seconds_per_text"] / contender["ratio"]["value"],
        "joules_per_1000": None if energy is None else source["joules_per_1000"] / energy["value"],
    }


def times_of(result: Json, source: Json | None = None) -> dict[str, Json]:
    """The times of every contender but the reference; `source` are those of the reference when the search began."""
    contenders = result["contenders"]
    reference = contenders[REFERENCE]
    known = source or absolute(reference)
    return {name: relative(one, reference, known) for name, one in contenders.items() if name != REFERENCE}
