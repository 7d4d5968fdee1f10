"""A network without token types learns which predicate to label arguments for, from the separators around it."""

import json
import os

import pytest

import tiny
from niwaki.core.files import read_json
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage

THINGS = ["film", "plot", "actor", "scene", "story", "sound", "light", "end", "start", "movie"]


def sentence(first: int, second: int) -> dict:
    """`film was plot is scene`: each of the two predicates has the things next to it, so every thing between has two roles."""
    words = [THINGS[first], "was", THINGS[second], "is", THINGS[(first + second) % 10]]
    args = [
        {"predicate": place, "start": start, "end": start + 1, "label": label}
        for place, label, start in ((0, "ARG0", 0), (0, "ARG1", 2), (1, "ARG0", 2), (1, "ARG1", 4))
    ]
    return {"tokens": words, "predicates": [1, 3], "rolesets": ["be.01", "be.02"], "args": args}


@pytest.mark.parametrize("family", ["bilstm"])
def test_the_mark_is_learnt_without_types(tmp_path, monkeypatch, family):
    monkeypatch.setattr(quality, "RESAMPLES", 20)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    (tmp_path / "model").mkdir()
    tiny.model(family).save(tmp_path / "model")
    rows = [sentence(first, second) for first in range(10) for second in range(10)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    train = {"epochs": 9, "batch": 8, "lr": 5e-3, "precision": "fp32", "dropout": 0.0}
    recipe = {"model": str(tmp_path / "model"), "task": "roles", "data": {"path": str(tmp_path / "rows.jsonl")}}
    plan = make_plan(parse({**recipe, "quantize": [], "stages": [{"name": "made", "train": train}]}), "x")
    (tmp_path / "stages").mkdir()
    run_stage(plan, plan.stages[0], tmp_path, Ledger(tmp_path / "ledger.jsonl"), lambda: False)
    found = read_json(tmp_path / plan.stages[0].folder / "result.json")["score"]["all"]
    assert found["f1_roles"]["value"] > 0.95
