"""Which models race, under which names, and what is noted of them."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from niwaki.run import race
from niwaki.run.race import REFERENCE, run_race, score_of


class Loaded:
    """A model in an engine: onnx, or with `auto` what this machine prefers."""

    prefers: str = "native"

    def __init__(self, folder: Path, engine: str = "onnx") -> None:
        self.folder, self.engine = folder, self.prefers if engine == "auto" else engine

    def values(self, texts):
        return [f"{self.folder.parent.name} {self.engine}"] * len(texts)


@pytest.fixture
def raced(monkeypatch):
    """Contenders of the last race; every one of them is as fast."""
    calls = {}

    def fake(contenders, texts, **how):
        calls.update(names=list(contenders), texts=len(texts), how=how)
        return {
            "version": 1,
            "contenders": {name: {"throughput": 1.0, "by": run(["x"])[0]} for name, run in contenders.items()},
        }

    monkeypatch.setattr(race, "Predictor", Loaded)
    monkeypatch.setattr(race.speed, "race", fake)
    monkeypatch.setattr(race, "resident_bytes", lambda folder: 123)
    about = SimpleNamespace(values=lambda texts: ["reference"], description="in transformers")
    monkeypatch.setattr(race, "Reference", lambda folder, tokens: about)
    return calls


def plan_of(kind: str = "full"):
    scorer = SimpleNamespace(example_stats=lambda values, rows: values, scores=lambda stats: {"accuracy": 0.5})
    table = pa.table({"text": [f"text {n}" for n in range(300)]})
    task = SimpleNamespace(
        max_tokens=64,
        metric="accuracy",
        scorer=scorer,
        splits=lambda: {"test": table},
        inputs=lambda rows: rows.column("text").to_pylist(),
    )
    stages = [SimpleNamespace(spec=SimpleNamespace(name=name), folder=name) for name in ("teacher", "int8")]
    recipe = SimpleNamespace(race=kind, meter=SimpleNamespace(window=None))
    return SimpleNamespace(stages=stages, task=task, recipe=recipe)


def test_stages_race_in_both_engines_with_separate_figures(raced, tmp_path):
    found = run_race(plan_of(), tmp_path)
    assert raced["names"] == [REFERENCE, "teacher", "teacher loaded", "int8", "int8 loaded"]
    assert raced["texts"] == 192 and raced["how"]["reference"] == REFERENCE
    assert set(found["contenders"]) == {REFERENCE, "teacher", "int8"}
    int8 = found["contenders"]["int8"]
    assert (int8["engine"], int8["by"], int8["memory"]) == ("onnx", "int8 onnx", 123)
    assert int8["loaded"] == {"throughput": 1.0, "by": "int8 native", "engine": "native", "score": 0.5}
    assert found["description"] == "in transformers" and found["batch"] == 32


def test_an_engine_that_would_be_picked_anyway_races_once(raced, tmp_path, monkeypatch):
    monkeypatch.setattr(Loaded, "prefers", "onnx")
    found = run_race(plan_of(), tmp_path)
    assert raced["names"] == [REFERENCE, "teacher", "int8"] and "loaded" not in found["contenders"]["int8"]


def test_a_short_race_leaves_out_memory_and_portable_engines(raced, tmp_path):
    found = run_race(plan_of("short"), tmp_path)
    assert raced["names"] == [REFERENCE, "teacher loaded", "int8 loaded"]
    assert raced["texts"] == 48 and raced["how"]["singles"] == 6
    assert found["contenders"]["int8"]["memory"] is None and found["contenders"]["int8"]["engine"] == "onnx"
    assert found["contenders"]["int8"]["loaded"]["by"] == "int8 native"


def test_the_score_is_the_primary_metric_on_the_test_rows(tmp_path):
    seen = []
    task = plan_of().task
    task.scorer.example_stats = lambda values, rows: seen.append((len(values), rows.num_rows))
    assert score_of(task, Loaded(tmp_path / "x" / "model")) == 0.5 and seen == [(300, 300)]
