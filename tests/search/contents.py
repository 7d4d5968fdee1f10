"""The content of a search.json with four trials."""

from niwaki.core.json_types import Json
from search.searching import SOURCE, variant

INTERVAL = {"value": 0.7, "low": 0.6, "high": 0.8, "rows": 100}


def content() -> Json:
    small, large = variant("int8", 0.78, 5_000_000, 1.5), variant("float", 0.79, 20_000_000, 3.0)
    own = [variant("float", 0.8, 80_000_000, 8.0), variant("int8", 0.8, 22_000_000, 4.0)]
    path = "stages.student.methods.student.layers"
    trials: list[Json] = [
        {"status": "done", "part_scores": [0.5, 0.98], "variants": [variant("int8", 0.70, 4_000_000, 1.0)]},
        {"status": "done", "part_scores": [0.6, 0.98], "variants": [large, small]},
        {"status": "stopped", "reason": "in the worse half", "part_scores": [0.5]},
        {"status": "rejected", "reason": "at least 30 MB <i>"},
    ]
    ends = {"kept": 0.98, "kept_low": 0.96, "kept_high": 1.0}
    test = {"metric": "accuracy", "selected": INTERVAL, "source": INTERVAL, **ends}
    payback = {"shown": True, "words": "pays back after 1,000 inferences"}
    return {
        "version": 1,
        "name": "films",
        "task": {"name": "films", "metric": "accuracy", "rows": {"test": 100}},
        "settings": {"max_mb": 10, "objective": "bytes"},
        "seed": 0,
        "points": 1200,
        "dimensions": {path: [1, 2, "off"]},
        "source": {**SOURCE, "variants": own},
        "trials": [
            {"number": number, "point": {"stages": "student", path: 2}, "losses": [1.0], "seconds": 60.0, **trial}
            for number, trial in enumerate(trials)
        ],
        "importance": {path: 0.75},
        "predictors": [
            {"predictor": "FLOPs", "of": "latency", "models": 3, "correlation": 0.5},
            {"predictor": "two timed models", "of": "energy", "models": 0, "correlation": None},
        ],
        "selected": {**small, "trial": 1, "missed": [], "shortfalls": {}, "test": test, "payback": payback},
        "spent": {"seconds": 300.0, "joules": 5000.0, "joules_low": 4000.0, "joules_high": 6000.0, "tier": "estimated"},
        "interrupted": False,
    }
