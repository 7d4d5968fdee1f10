"""Synthetic run folders, in the format that the runner writes."""

import json
import math
from pathlib import Path
from typing import Any

from niwaki.core import files
from niwaki.core.documents import write_document

METHODS: dict[str, list[dict[str, Any]]] = {
    "teacher": [],
    "student": [{"use": "student", "layers": 3}, {"use": "logits", "temperature": 2.0}],
    "pruned": [{"use": "heads", "keep": 0.5}, {"use": "logits"}],
    "int8": [{"use": "int8"}],
}
SCORES = {"teacher": 0.836, "student": 0.826, "pruned": 0.822, "int8": 0.8205}
BYTES = {"teacher": 90_900_000, "student": 69_400_000, "pruned": 56_700_000, "int8": 14_600_000}
SPEEDS = {"reference": 210.0, "teacher": 640.0, "student": 1_300.0, "pruned": 1_750.0, "int8": 2_900.0}
TESTED = 1066


def reading(joules: float | None, seconds: float = 60.0, tier: str = "estimated") -> dict[str, Any]:
    low, high = (None, None) if joules is None else (joules * 0.6, joules * 1.5)
    return {
        "seconds": seconds,
        "cpu_seconds": seconds * 1.9,
        "joules": joules,
        "joules_low": low,
        "joules_high": high,
        "marginal_joules": None,
        "tier": "unknown" if joules is None else tier,
        "source": "cpu-seconds × watts",
        "co2e_grams": None,
        "usd": None,
        "detail": {},
    }


def score(value: float, rows: int = TESTED) -> dict[str, Any]:
    half = 1.96 * math.sqrt(value * (1 - value) / rows)
    one = {"value": value, "low": value - half, "high": value + half}
    return {"metric": "accuracy", **one, "rows": rows, "all": {"accuracy": one, "f1": one}}


def result(name: str, key: str) -> dict[str, Any]:
    return {
        "version": 1,
        "stage": name,
        "key": key,
        "score": score(SCORES[name]),
        "bytes": BYTES[name],
        "parameters": BYTES[name] // 4,
        "flops": BYTES[name] * 7,
        "flops_tokens": 27,
        "training": {"steps": 640, "epochs": 3, "best_step": 600, "best_score": SCORES[name], "seconds": 61.0},
        "engine": "onnx",
        "spent": reading(2_400.0),
    }


def curve(name: str) -> list[dict[str, Any]]:
    if name == "int8":
        return []
    lines: list[dict[str, Any]] = []
    for step in range(4, 641, 4):
        loss = 0.7 * math.exp(-step / 260) + 0.09 + 0.03 * math.sin(step * 0.43)
        lines.append({"kind": "step", "step": step, "epoch": step // 214, "loss": loss, "lr": 5e-5})
        if step % 80 == 0:
            lines.append(
                {
                    "kind": "validation",
                    "step": step,
                    "epoch": step // 214,
                    "score": 0.79 + 0.04 * (1 - math.exp(-step / 200)),
                }
            )
    return lines


def contender(name: str, joules: float | None) -> dict[str, Any]:
    rate = SPEEDS[name]
    ratio = rate / SPEEDS["reference"]
    return {
        "throughput": {"value": rate, "low": rate * 0.96, "high": rate * 1.04},
        "latency_ms": {"p50": 2500 / rate, "p95": 3900 / rate, "p99": 5200 / rate},
        "energy_per_1000": reading(joules, 1000 / rate),
        "ratio": {"value": ratio, "low": ratio * 0.97, "high": ratio * 1.03},
    }


def plan(names: list[str]) -> dict[str, Any]:
    keys = {name: files.fingerprint(name) for name in names}
    stages = [
        {
            "name": name,
            "key": keys[name],
            "parent": names[at - 1] if at else None,
            "teachers": [names[0]] if name == "student" else [],
            "folder": f"stages/{name}-{keys[name][:12]}",
            "methods": METHODS[name],
            "train": {"epochs": 3, "lr": 5e-5} if name != "int8" else None,
        }
        for at, name in enumerate(names)
    ]
    task = {"name": "rotten_tomatoes", "metric": "accuracy", "description": "sentiment of one sentence"}
    return {
        "version": 1,
        "name": "demo",
        "seed": 13,
        "niwaki": "0.1.0",
        "created": "2026-11-15T20:00:00+00:00",
        "versions": {"torch": "2.13.0", "transformers": "5.22.2", "onnxruntime": "1.31.1"},
        "hardware": {"cpu": "Example CPU @ 2.0 GHz", "cores": 2, "memory_gb": 16, "bf16": True},
        "model": "minilm",
        "task": {
            **task,
            "rows": {"train": 6397, "validation": 1067, "test": TESTED},
            "labels": ["negative", "positive"],
        },
        "stages": stages,
    }


def ledger(names: list[str]) -> list[dict[str, Any]]:
    lines = [
        {
            "stage": name,
            "key": "k",
            "what": what,
            "status": "done",
            "started": "2026-11-15T20:01:00+00:00",
            "reading": reading(joules, seconds),
        }
        for name in names
        for what, joules, seconds in (("train", 2_100.0, 61.0), ("evaluate", 160.0, 6.0), ("speed", 90.0, 4.0))
    ]
    lost = {
        "stage": names[-1],
        "key": "k",
        "what": "train",
        "status": "killed",
        "started": "2026-11-15T20:02:00+00:00",
    }
    return [*lines, {**lost, "reading": reading(700.0, 20.0)}]


def make_run(folder: Path, names: list[str] | None = None, energy: bool = True) -> Path:
    """A whole, finished run; tests then take away or change what they are about."""
    names = list(METHODS) if names is None else names
    folder.mkdir(parents=True, exist_ok=True)
    planned = plan(names)
    files.write_text(
        folder / "recipe.toml", 'model = "minilm"\ntask  = "rotten_tomatoes"\n\n[[stages]]\nname = "teacher"\n'
    )
    write(folder / "plan.json", planned)
    for stage in planned["stages"]:
        with files.commit_folder(folder / stage["folder"]) as home:
            files.write_json(home / "result.json", result(stage["name"], stage["key"]))
            files.write_text(home / "train.jsonl", "".join(json.dumps(line) + "\n" for line in curve(stage["name"])))
    contenders = {name: contender(name, 12_000 / SPEEDS[name] if energy else None) for name in ["reference", *names]}
    write(folder / "speed.json", {"version": 1, "texts": 512, "rounds": 5, "batch": 32, "contenders": contenders})
    write(
        folder / "baseline.json",
        {"version": 1, "name": "TF-IDF + linear SVM", "score": score(0.767), "spent": reading(9.0, 0.6)},
    )
    files.write_text(folder / "ledger.jsonl", "".join(json.dumps(line) + "\n" for line in ledger(names)))
    return folder


def make_many(folder: Path, monkeypatch: Any, names: str = "stage {}", count: int = 12) -> Path:
    """A run of many stages: `names` is the pattern of their names; later ones are smaller, faster and a little worse."""
    stages = [names.format(at) for at in range(count)]
    for at, name in enumerate(stages):
        monkeypatch.setitem(METHODS, name, [{"use": "student", "layers": 3}, {"use": "logits"}] if at else [])
        monkeypatch.setitem(SCORES, name, 0.84 - 0.003 * at + 0.004 * math.sin(7 * at))
        monkeypatch.setitem(BYTES, name, int(90e6 / (1 + 0.6 * at)))
        monkeypatch.setitem(SPEEDS, name, 640 * (1 + 0.3 * at + 0.2 * math.sin(5 * at)))
    run = make_run(folder, stages)
    add_baselines(run)
    return run


def read_page(folder: Path) -> str:
    """The page with plain spaces where it has some that do not break."""
    return (folder / "report.html").read_text().replace("\u00a0", " ")


def change(path: Path, **values: Any) -> None:
    """Sets top-level keys of a JSON file, as if it had been written so: its digest or its folder's MANIFEST is made anew."""
    write(path, {**files.read_json(path), **values})


def write(path: Path, value: dict[str, Any]) -> None:
    """A file of a run that passes verification whatever it holds."""
    if path.name == "result.json":
        files.write_json(path, value)
        reseal(path.parent)
    else:
        recipe = ["recipe.toml"] if path.with_name("recipe.toml").exists() else []
        content = {key: item for key, item in value.items() if key not in ("digest", "files")}
        write_document(path, content, recipe if path.name == "plan.json" else [])


def reseal(stage: Path) -> None:
    (stage / files.MANIFEST).unlink()
    files._seal(stage)


BASELINES = {
    "majority class": 0.50,
    "TF-IDF + linear SVM": 0.767,
    "averaged static vectors": 0.74,
    "frozen encoder": 0.78,
}
KINDS = ("majority", "tfidf", "static", "frozen")


def add_baselines(folder: Path, best: str = "TF-IDF + linear SVM") -> None:
    """Four baselines; 10, 20, 30 and 40 J."""
    baselines = [
        {"name": name, "kind": kind, "validation": value, "score": score(value), "spent": reading(joules), "note": ""}
        for (name, value), kind, joules in zip(BASELINES.items(), KINDS, (10.0, 20.0, 30.0, 40.0), strict=True)
    ]
    change(folder / "baseline.json", name=best, score=score(BASELINES[best]), spent=reading(100.0), baselines=baselines)


def add_comparisons(folder: Path, *pairs: tuple[str, str, float, float, float]) -> None:
    """Each pair is a, b, difference, low, high."""
    pairs = [
        {"a": a, "b": b, "difference": value, "low": low, "high": high, "shown": not low <= 0 <= high}
        for a, b, value, low, high in pairs
    ]
    write(folder / "comparisons.json", {"version": 1, "metric": "accuracy", "spread": {}, "pairs": pairs})


def add_seeds(folder: Path, values: dict[int, dict[str, float]]) -> None:
    """Repeats of the stages for further seeds: {seed: {stage: score}}; a stage left out is planned and unfinished."""
    planned = files.read_json(folder / "plan.json")
    repeats = []
    for seed, scores in values.items():
        stages = [{**stage, "folder": f"{stage['folder']}-{seed}", "seed": seed} for stage in planned["stages"]]
        repeats.append({"seed": seed, "stages": stages})
        for stage in stages:
            if stage["name"] in scores:
                with files.commit_folder(folder / stage["folder"]) as home:
                    repeated = {**result(stage["name"], stage["key"]), "score": score(scores[stage["name"]])}
                    files.write_json(home / "result.json", repeated)
    stages = [{**stage, "seed": planned["seed"]} for stage in planned["stages"]]
    change(folder / "plan.json", seeds=[planned["seed"], *values], stages=stages, repeats=repeats)


def add_parts(folder: Path, name: str, value: float) -> None:
    """A further test set of 500 rows, which every stage of the first seed was scored on."""
    for stage in files.read_json(folder / "plan.json")["stages"]:
        change(folder / stage["folder"] / "result.json", parts={name: score(value, 500)})


def make_full(folder: Path, names: list[str] | None = None) -> Path:
    """A run with everything that a run can have: baselines, comparisons, seeds, a further test set, a caveat."""
    run = make_run(folder, names)
    last = files.read_json(run / "plan.json")["stages"][-1]["name"]
    add_baselines(run)
    add_comparisons(
        run,
        (last, "teacher", -0.0155, -0.030, -0.001),
        ("teacher", "TF-IDF + linear SVM", 0.056, 0.031, 0.081),
        (last, "TF-IDF + linear SVM", 0.0405, 0.016, 0.065),
    )
    add_seeds(run, {seed: {name: value + 0.003 * seed for name, value in SCORES.items()} for seed in (1, 2)})
    add_parts(run, "mismatched", 0.8)
    task = files.read_json(run / "plan.json")["task"]
    change(run / "plan.json", task={**task, "answer": "label", "caveat": "The test labels are not public."})
    return run
