"""Fixtures of the tests of baselines."""

import json
import random

import pytest

from evaluate.task_kinds import TASKS, row
from niwaki.evaluate import quality as scoring


@pytest.fixture(scope="session")
def tasks_by_kind(tmp_path_factory):
    """A task of every kind on 300 rows."""
    folder = tmp_path_factory.mktemp("kinds")

    def make(kind: str):
        draw = random.Random(kind)
        path = folder / f"{kind}.jsonl"
        path.write_text("\n".join(json.dumps(row(kind, draw)) for _ in range(300)) + "\n", encoding="utf-8")
        named = {"second": "second"} if kind in ("pair", "number") else {}
        named |= {"text": "source", "target": "target"} if kind == "text" else {}
        return TASKS[kind](path=str(path), max_tokens=48, **named)

    return {kind: make(kind) for kind in TASKS}


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(scoring, "RESAMPLES", 20)
