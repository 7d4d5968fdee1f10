"""The facts of a comparison, as a program would write them, with texts of strangers."""

from niwaki.core.json_types import Json

POISON = [
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "x" * 1000,
    "",
    "مرحبا \u202e reversed \x00 日本語 " + "\ud800",
    "</style></details>{{ 7 * 7 }} & \"quoted\" 'text'",
]


def share(count: int, rows: int = 300) -> Json:
    value = count / rows
    return {"count": count, "rows": rows, "value": value, "low": value * 0.7, "high": min(1.0, value * 1.3)}


def group(kind: str, name: str, loss: float, rows: int = 120, verdict: str = "no difference shown") -> Json:
    ends = {"loss": loss, "low": loss - 0.03, "high": loss + 0.03, "p": 0.01, "p_corrected": 0.04}
    return {
        "kind": kind,
        "name": name,
        "rows": rows,
        "changed": 0.1,
        "net_rows_lost": int(loss * rows),
        **ends,
        "verdict": verdict,
    }


def calibrated(shift: float) -> Json:
    bins = [{"confidence": 0.5 + at / 20, "right": 0.5 + at / 20 - shift, "rows": 15} for at in range(10)]
    return {"ece": shift, "brier": 0.3, "log_loss": 0.5, "reliability": bins}


def model(name: str, size: int) -> Json:
    return {"name": name, "engine": "onnx", "bytes": size, "score": {"value": 0.9, "low": 0.88, "high": 0.92}}


def lap(rate: float) -> Json:
    joules = {"joules": 3.0, "joules_low": 2.0, "joules_high": 4.0, "tier": "estimated"}
    ratio = {"value": rate / 100, "low": rate / 110, "high": rate / 90}
    return {"throughput": {"value": rate}, "latency_ms": {"p50": 3.2}, "energy_per_1000": joules, "ratio": ratio}


def facts() -> Json:
    flips = {"loss": 0.02, "low": -0.01, "high": 0.05, "p": 0.2, "p_corrected": 0.4}
    kinds = ("broken", "fixed", "neither")
    texts = [
        {
            "row": at,
            "text": text,
            "gold": "good",
            "kind": kinds[at % 3],
            **{side: {"value": "bad", "confidence": 0.9} for side in "ab"},
        }
        for at, text in enumerate(POISON * 3)
    ]
    return {
        "task": {"name": "classification", "metric": "accuracy", "answer": "label", "rows": 300},
        "split": "test",
        "seed": 0,
        "models": {"a": model("teacher", 90_000_000), "b": model("<b>small</b>", 4_000_000)},
        "difference": {"difference": -0.013, "low": -0.03, "high": 0.001, "shown": False},
        "churn": {"changed": share(30), "broken": share(15), "fixed": share(11), "neither": share(4)},
        "texts": texts,
        "pie": {
            "seeds": [4, 4],
            "share": share(20),
            "rows": [*range(20)],
            "halves": {
                "seeds": 2,
                "first": 25,
                "second": 22,
                "both": 14,
                "expected": 1.8,
                "times": 7.6,
                "p": 1e-40,
                "between_dense": share(6),
            },
        },
        "groups": [
            group("class", "good", 0.06, verdict="loss"),
            group("site", POISON[0], 0.01),
            group("length", "2 to 4 tokens", -0.02, 40, "too few rows"),
        ],
        "calibration": {
            side: {"temperature": 1.4, "rows": 150, "before": calibrated(0.08), "after": calibrated(0.02)}
            for side in "ab"
        },
        "robustness": [{"edit": "typo", "rows": 200, "a": share(10, 200), "b": share(14, 200), "more": flips}],
        "layers": {
            "texts": 64,
            "similarity": [[1 / (1 + abs(a - 2 * b)) for b in range(13)] for a in range(25)],
            "attention": {"matched": [1, 3, 5], "layers": [[0.1, 0.2, 0.3, 0.9] * 3] * 3},
            "missing": [],
        },
        "speed": {"texts": 64, "rounds": 6, "contenders": {"a": lap(100), "b": lap(420)}, "conditions": {}},
        "stages": [
            {"name": "teacher", "score": {"value": 0.9}, "bytes": 90_000_000},
            {
                "name": "<b>small</b>",
                "score": {"value": 0.89},
                "bytes": 4_000_000,
                "difference": {"difference": -0.013, "low": -0.03, "high": 0.001},
                "churn": {name: share(9) for name in ("changed", *kinds)},
            },
        ],
        "limits": {"exceeded": ["churn: 10.0 % of the predictions changed, the limit is 5 %"]},
        "left_out": ["Something: is missing for <i>a</i> reason."],
    }
