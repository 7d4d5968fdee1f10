"""The benchmark of semantic roles: its metric on plain sentences, and its rendered section."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("roles")


@pytest.fixture
def rendered(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("render_roles").roles


def frame(predicate, *arguments):
    return {
        "predicate": predicate,
        "arguments": [dict(zip(("label", "start", "end"), one, strict=True)) for one in arguments],
    }


def test_arguments_of_wrong_predicates_count_as_errors(benchmark):
    """Gold: word 1 has two arguments, word 3 has one. Predicted: one argument of word 1, and one of word 2, which is not a
    predicate; word 3 is missed. Precision 1/2, recall 1/3."""
    rows = pa.table(
        {
            "tokens": [["a", "b", "c", "d"]] * 3,
            "predicate": [-1, 1, 3],
            "tags": [["O", "P", "O", "P"], ["B-ARG0", "S-01", "B-ARG1", "O"], ["O", "O", "B-ARG1", "S-01"]],
        }
    )
    task = SimpleNamespace(splits=lambda: {"test": rows}, gold=lambda table: table.column("tags").to_pylist())
    answers = [SimpleNamespace(frames=[frame(1, ("ARG0", 0, 1)), frame(2, ("ARG1", 3, 4))])]
    predictor = SimpleNamespace(predict=lambda inputs: answers if inputs == [["a", "b", "c", "d"]] else [])
    found = benchmark.whole(SimpleNamespace(task=task), predictor)
    assert found == pytest.approx({"f1": 2 / 5, "precision": 1 / 2, "recall": 1 / 3})


def record(name, value):
    every = {
        key: {"value": value, "low": value - 0.01, "high": value + 0.01}
        for key in ("f1_roles", "precision", "recall", "f1_predicates", "accuracy_senses")
    }
    heads = {"en_ewt": {"rows": 9, "f1_roles": 0.8, "f1_predicates": 0.9, "accuracy_senses": 0.9}}
    return {
        "name": name,
        "rows": {"train": 53024},
        "bytes": 90_000_000,
        "score": {**every["f1_roles"], "all": every},
        "sentences": {"f1": 0.7},
        "heads": heads,
        "parts": {"rows": 5, "tokens": 1.0, "network": 8.0, "tags": 1.0},
        "first_spent": {"cpu_seconds": 1200.0},
        "spent": [],
        "train": {"epochs": 1.5},
    }


def test_the_newest_record_of_each_model_is_compared_with_the_target(rendered):
    text = rendered([record("minilm", 0.5), record("tenth-alone", 0.7), record("minilm", 0.768)])
    assert (
        "| MiniLM-L6, three epochs | 90.0 | **76.8** (75.8 to 77.8) |" in text
        and "measured: 76.8, met. Training took 20 CPU minutes" in text
    )
    assert "| en_ewt | 9 | 80.0 | 90.0 | 90.0 |" in text and "network 8.0 s (80%)" in text
    assert "measured: 70.0, not met" in rendered([record("minilm", 0.7)])
