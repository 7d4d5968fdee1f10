"""The cost model against a case worked out by hand."""

import importlib
from pathlib import Path

import pytest

CONSTANTS = {
    "tokens_per_sentence": 20.0,
    "batch_sentences": 100,
    "teacher_tokens_per_second": 4000.0,
    "student_tokens_per_second": 2000.0,
    "student_parameters": 1_000_000,
    "exchange_bytes_per_cpu_second": 5e8,
}


@pytest.fixture
def estimate(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module("cost_model").estimate


def test_one_machine_exchanges_nothing(estimate):
    found = estimate(CONSTANTS, 1, 1e9, watts=100.0, cores=1)
    assert (found.teacher_seconds, found.student_seconds, found.exchange_seconds) == (5e6, 1e7, 0.0)
    assert found.efficiency == 1 and found.kwh == pytest.approx(1.5e7 * 100 / 3.6e6)


def test_four_machines_share_the_tokens_and_exchange_gradients_in_every_step(estimate):
    found = estimate(CONSTANTS, 4, 1e9, watts=100.0, cores=2)
    # 1e9 / 800 steps, each 2 × 4 × 1e6 × 3/4 bytes, which take 6 ms in the network and 12 ms of a core
    assert (found.teacher_seconds, found.student_seconds) == (0.625e6, 1.25e6)
    assert found.exchange_seconds == pytest.approx(1.25e6 * (0.006 + 0.012))
    assert found.efficiency == pytest.approx(1.875e6 / 1.8975e6)
