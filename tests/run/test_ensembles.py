"""Stages that differ in their random numbers only: ensembles of teachers, self-distillation, soups."""

import hashlib

import numpy as np
import pytest
from safetensors.numpy import load_file

from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage

TRAIN = {"epochs": 1, "batch": 16, "lr": 1e-3, "precision": "fp32"}
ONE = {"name": "one", "train": TRAIN}
TWO = {"name": "two", "train": TRAIN, "start": "pretrained", "replica": 1}
SELF = {"name": "self", "train": TRAIN, "start": "pretrained", "methods": [{"use": "logits"}]}
SOUP = {"name": "soup", "start": "one", "methods": [{"use": "soup", "other_stages": ["two"], "choose": "uniform"}]}


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


@pytest.fixture
def plan_of(bert_folder, rows_csv):
    def build(*stages, **more):
        data = {"path": str(rows_csv), "max_tokens": 24}
        recipe = {"model": str(bert_folder), "task": "classification", "data": data, "quantize": [], **more}
        return make_plan(parse({**recipe, "stages": list(stages)}), "ensembles")

    return build


def test_replicas_have_keys_of_their_own_and_0_changes_nothing(plan_of):
    plain, zero, other = (
        plan_of(ONE, {**TWO, **change}).stages[1].key for change in ({"replica": 0}, {"replica": 0}, {"replica": 2})
    )
    assert plain == zero == plan_of(ONE).stages[0].key != other != plan_of(ONE, TWO).stages[1].key
    assert plan_of(ONE, TWO).to_json()["stages"][1]["replica"] == 1


def test_teachers_of_several_replicas_and_their_soup(plan_of, tmp_path):
    (tmp_path / "stages").mkdir()
    ensemble = {**SELF, "name": "both", "teacher": ["one", "two"]}
    plan = plan_of(ONE, TWO, {**SELF, "teacher": "one"}, ensemble, SOUP)
    ledger, folders = Ledger(tmp_path / "ledger.jsonl"), {}
    for stage in plan.stages:
        run_stage(plan, stage, tmp_path, ledger, lambda: False)
        folders[stage.name] = tmp_path / stage.folder
    weights = {name: load_file(folder / "model" / "model.safetensors") for name, folder in folders.items()}
    digests = {hashlib.sha256(one["classifier.weight"].tobytes()).hexdigest() for one in weights.values()}
    assert len(digests) == 5
    shapes = [{key: value.shape for key, value in one.items()} for one in weights.values()]
    assert all(one == shapes[0] for one in shapes)
    for key, value in weights["soup"].items():
        assert np.allclose(value, (weights["one"][key] + weights["two"][key]) / 2, atol=1e-6)
    assert all(0 <= read_json(folder / "result.json")["score"]["value"] <= 1 for folder in folders.values())


def test_a_negative_replica_is_rejected(plan_of):
    with pytest.raises(InputError, match="replica"):
        plan_of({**ONE, "replica": -1})
