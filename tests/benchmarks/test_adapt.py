"""The benchmark of parameter-efficient tuning: its plans and its page."""

import importlib
from pathlib import Path

import pytest

from niwaki.methods import METHODS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def test_methods_and_titles_agree(load):
    adapt, page = load("adapt"), load("render_adapt")
    assert set(page.TITLES) == set(adapt.METHODS)
    used = {method["use"] for methods, _ in adapt.METHODS.values() for method in methods}
    tuning = {"bitfit", "lora", "ia3", "adapters", "prefix_tuning", "prompt_tuning"}
    assert tuning <= used <= set(METHODS.names())


def record(method: str, value: float, share: float) -> dict:
    return {
        "task": "mrpc",
        "method": method,
        "seed": 0,
        "metric": "accuracy",
        "rows": {"train": 1000, "test": 400},
        "score": {"value": value, "low": 0.6, "high": 0.9},
        "training": {"trained_share": share},
        "delta_bytes": None if method == "full" else 300_000,
        "model_bytes": 90_000_000,
        "spent": {"seconds": 60.0, "joules": 600.0},
    }


def test_scores_are_compared_with_full_fine_tuning(load):
    """0.76 of 0.8 is 95 %."""
    text = load("render_adapt").adapt([record("lora", 0.76, 0.0042), record("full", 0.8, 1.0)])
    assert "| LoRA, query and value | 1 | 0.42 % | 300 | 76.0 | 95.0 % | 60 | 600 |" in text
    assert "| full fine-tuning | 1 | 100.00 % | 90,000 | 80.0 |  | 60 | 600 |" in text
    assert "60.0 to 90.0" in text
