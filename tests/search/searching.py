"""A search whose trials are made up: the score of a student follows from its settings, and nothing is trained."""

import json
from pathlib import Path
from types import SimpleNamespace

from niwaki.core.json_types import Json
from niwaki.run.search_settings import SearchSettings
from niwaki.search.job import SearchJob
from niwaki.search.predict import Size
from search import spaces

TIME = {"latency_ms": 8.0, "p99_ms": 10.0, "seconds_per_text": 0.005, "joules_per_1000": 50.0}
SOURCE: Json = {
    "seconds": 1.0,
    "score": 0.8,
    "bytes": 80_000_000,
    "flops": 800,
    "other_bytes": 100_000,
    "kinds": ["float", "int8"],
    "key": "s",
    "engine": "native",
    "model": "stages/teacher-s/model",
    "time": TIME,
    "times": {
        "float/native": {"full": TIME, "flops": 800},
        "int8/native": {"full": {name: value / 2 for name, value in TIME.items()}, "flops": 800},
    },
    "variants": [],
}


def variant(kind: str, score: float, size: int, latency: float, **more: object) -> Json:
    predicted = {"bytes": size, "flops": 100, "latency_ms": latency}
    times = {"latency_ms": latency, "p99_ms": 2 * latency, "seconds_per_text": 1e-3, "joules_per_1000": latency}
    about = {"format": kind, "engine": "native", "key": kind, "model": f"stages/{kind}/model", "flops": 100}
    return {**about, "score": score, "bytes": size, **times, "predicted": predicted, **more}


def job(folder: Path, should_stop=lambda: False, **settings: object) -> SearchJob:
    space = spaces.space(space={one.path: list(one.values[:2]) for one in spaces.space().dimensions if one.stage})
    window = SimpleNamespace
    task = SimpleNamespace(name="films", metric="accuracy", splits=dict)
    return SearchJob(space, SearchSettings(**settings), folder, task, 0, window, should_stop)


def quality(point) -> float:
    """A number from 0 to 1 that follows from a point."""
    text = json.dumps(dict(point), sort_keys=True)
    return (sum(ord(sign) * (place + 1) for place, sign in enumerate(text)) % 97) / 97


class Sizes:
    """A forecast: models of 20 MB, and 5 MB in 8 bits."""

    def sizes(self, recipe, last, kinds):
        return {kind: Size(20_000_000 if kind == "float" else 5_000_000, 200) for kind in kinds}
