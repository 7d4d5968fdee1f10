"""Pruning single weights: schedule, choice, and interrupted trainings."""

import itertools

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.methods.prune._masks import cubic_sparsity, densify, keep_largest, updates_due
from niwaki.methods.prune.lottery import Lottery
from niwaki.methods.prune.movement import Movement
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.train.loop import Interrupted

from .sparsity import of_all_forms, sparsity

TRAIN = {"epochs": 2, "batch": 32, "lr": 2e-3, "precision": "fp32"}


A, B = torch.tensor([[5.0, -1.0], [2.0, 0.5]]), torch.tensor([[4.0, 3.0]])


def test_the_cubic_schedule():
    assert cubic_sparsity(0.1, 0.2, 0.6, 0.8) == 0
    assert cubic_sparsity(0.4, 0.2, 0.6, 0.8) == pytest.approx(0.7)  # half of the way: 0.8 × (1 - 1/8)
    assert cubic_sparsity(0.6, 0.2, 0.6, 0.8) == cubic_sparsity(1.0, 0.2, 0.6, 0.8) == 0.8
    assert [updates_due(progress) for progress in (0.0, 0.031, 0.0313, 0.5, 1.0)] == [0, 0, 1, 16, 32]


def test_the_largest_values_remain():
    both = [A.abs(), B.abs()]
    assert [mask.tolist() for mask in keep_largest(both, 0.5, "global")] == [
        [[True, False], [False, False]],
        [[True, True]],
    ]
    assert [mask.tolist() for mask in keep_largest(both, 0.5, "layer")] == [
        [[True, False], [True, False]],
        [[True, False]],
    ]
    assert keep_largest([torch.ones(5)], 0.4, "global")[0].tolist() == [True, True, True, False, False]
    assert keep_largest([A], 0.01, "layer")[0].all()


@pytest.mark.parametrize("settings", [{"begin": 0.7, "end": 0.7}, {"sparsity": 1.0}, {"scope": "row"}])
def test_impossible_settings_are_rejected(settings):
    with pytest.raises(InputError, match=r"begin must be less than end|sparsity|scope"):
        parse({"stages": [{"name": "a", "methods": [{"use": "magnitude", **settings}]}]})
    with pytest.raises(InputError, match="n must be less than m, which is 4"):
        parse({"stages": [{"name": "a", "methods": [{"use": "nm", "n": 4}]}]})


def test_densified_matrices_are_plain_and_give_the_same_outputs():
    model = of_all_forms()["sparse"]
    before = tiny.logits(model, tiny.batch(model))
    found = densify(model, "test")
    assert len(found) == 18 and all(type(module) is torch.nn.Linear for module in found.values())
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before)


@pytest.mark.parametrize("method", [Movement(), Lottery()])
@pytest.mark.parametrize("form", ["int8", "digits"])
def test_packed_weights_are_rejected_in_the_dry_run(method, form):
    words = f"{type(method).__name__.lower()}: the weights are packed and cannot be trained; prune before packing"
    with pytest.raises(InputError, match=words):
        method.dry_prepare(of_all_forms()[form])


TRAINED = {
    "hard": ([{"use": "movement", "sparsity": 0.7, "begin": 0.0}], 0.7),
    "soft": ([{"use": "movement", "how": "soft", "penalty_weight": 1000.0, "speed": 1000.0}], None),
    "ticket": ([{"use": "lottery", "sparsity": 0.6}], 0.6),
    "magnitude": ([{"use": "magnitude", "sparsity": 0.8}], 0.8),
    "layer": ([{"use": "magnitude", "sparsity": 0.6, "scope": "layer", "begin": 0.0, "end": 0.3}], 0.6),
    "nm": ([{"use": "nm"}], 0.5),
    "packed after": ([{"use": "magnitude"}, {"use": "int8"}], 0.5),
    "packed before": ([{"use": "int8"}, {"use": "magnitude", "sparsity": 0.7}], 0.7),
}


@pytest.fixture
def stages(monkeypatch, quick_disk, bert_folder, rows_csv):
    monkeypatch.setattr(quality, "RESAMPLES", 10)

    def make(folder, *stages: dict, stop=lambda: False):
        (folder / "stages").mkdir(parents=True, exist_ok=True)
        plan = make_plan(
            parse(
                {
                    "model": str(bert_folder),
                    "task": "classification",
                    "data": {"path": str(rows_csv)},
                    "quantize": [],
                    "stages": [*stages],
                }
            ),
            "masks",
        )
        for stage in plan.stages:
            run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), stop)
        return [folder / stage.folder / "model" for stage in plan.stages]

    return make


@pytest.mark.parametrize("name", TRAINED)
def test_training_reaches_the_requested_sparsity(stages, tmp_path, name):
    methods, wanted = TRAINED[name]
    (folder,) = stages(tmp_path, {"name": "pruned", "methods": methods, "train": TRAIN})
    found = sparsity(load_folder(folder))
    assert found == pytest.approx(wanted, abs=0.01) if wanted else 0.05 < found < 1


# tests/contracts/test_methods.py interrupts every method once
ALSO_FAST = ("soft", "packed before")
INTERRUPTED = [name if name in ALSO_FAST else pytest.param(name, marks=pytest.mark.slow) for name in TRAINED]


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupted_training_ends_with_the_same_weights(stages, tmp_path, name):
    stage = {"name": "pruned", "methods": TRAINED[name][0], "train": TRAIN}
    (whole,) = stages(tmp_path / "whole" / "run", stage)
    calls = itertools.count()
    with pytest.raises(Interrupted):
        stages(tmp_path / "killed" / "run", stage, stop=lambda: next(calls) == 4)
    (again,) = stages(tmp_path / "killed" / "run", stage)
    assert (again / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_second_stage_continues_from_a_sparse_model(stages, tmp_path):
    first = {"name": "first", "methods": [{"use": "magnitude"}], "train": TRAIN}
    folders = stages(tmp_path, first, {**first, "name": "second", "methods": [{"use": "magnitude", "sparsity": 0.9}]})
    models = [load_folder(folder) for folder in folders]
    assert [sparsity(model) for model in models] == pytest.approx([0.5, 0.9], abs=0.002)
    assert (folders[1] / "model.safetensors").stat().st_size < (folders[0] / "model.safetensors").stat().st_size
