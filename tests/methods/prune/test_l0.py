"""L0 pruning: gates under a budget."""

import itertools

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.methods._method import Reshapes, Schedules, methods_with
from niwaki.methods.prune._gates import (
    Gate,
)
from niwaki.methods.prune.joint import Joint
from niwaki.methods.prune.l0 import L0
from niwaki.methods.prune.movement import Movement
from niwaki.methods.prune.nm import Nm
from niwaki.methods.quantize.int8 import Int8 as Int8Method
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.ranks import factored
from niwaki.models.edits.share import Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.train.loop import Interrupted

from .gated import CONTEXT, numbers, set_gates


def test_ranks_heads_and_neurons_have_gates_together():
    model = tiny.model("bert")
    model.apply_edit(Factored(ranks=[8, 8, 8, 8, 16, 16] * 3))
    method = L0(over=["heads", "ffn", "ranks"], target=0.3)
    model = method.prepare(model, CONTEXT)
    set_gates(model)
    batch = tiny.batch(model)
    wanted = tiny.logits(model, batch)
    model = method.finish(model)
    torch.testing.assert_close(tiny.logits(model, batch), wanted, atol=2e-5, rtol=0)
    assert all(module.rank < 16 for module in factored(model.network, model.anatomy).values())
    assert all(layer.ffn_size < 64 for layer in model.anatomy.layers)


def test_layers_that_share_matrices_share_gates():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    method = L0()
    model = method.prepare(model, CONTEXT)
    assert len({id(gate) for gate in method._gates.heads}) == 2
    set_gates(model)
    wanted = tiny.logits(model, tiny.batch(model))
    model = method.finish(model)
    assert model.anatomy.layers[0].part("out") is model.anatomy.layers[1].part("out")
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), wanted, atol=2e-5, rtol=0)


@pytest.mark.parametrize("other", [Movement(), Nm(n=3), Int8Method()], ids=["movement", "nm", "int8"])
@pytest.mark.parametrize("last", [False, True], ids=["after", "before"])
def test_other_methods_may_finish_before_or_after(other, last):
    methods = [L0(), other] if last else [other, L0()]
    model = tiny.model("bert")
    for method in methods_with(methods, Reshapes):
        model = method.prepare(model, CONTEXT)
    set_gates(model)
    wanted = tiny.logits(model, tiny.batch(model))
    for method in methods_with(methods, Schedules):
        method.after_step(model, 0.01)
    for method in methods:
        model = method.finish(model)
    assert all(layer.ffn_size < 64 for layer in model.anatomy.layers)
    found = tiny.logits(model, tiny.batch(model))
    if isinstance(other, Nm) and last:  # which looks for its neighbours anew in what is cut
        return
    torch.testing.assert_close(found, wanted, atol=0.05 if isinstance(other, Int8Method) else 2e-5, rtol=0)


@pytest.mark.parametrize(
    "method, edits, family, words",
    [
        (L0(over=["heads"]), [], "bert", r"l0: 67% of the parameters have no gates and stay; raise target above that"),
        (Joint(), [Int8()], "bert", "joint: the weights are packed, sparse or Kronecker products"),
        (L0(), [Sparse()], "bert", "l0: the weights are packed, sparse"),
        (L0(over=["ranks"]), [], "bert", "l0: no matrix is factored, so there are no ranks"),
        (L0(), [], "bilstm", "l0: a model of family 'bilstm' has no attention layers"),
    ],
)
def test_impossible_gates_are_rejected_in_the_dry_run(method, edits, family, words):
    model = tiny.model(family, ffn=128)
    for edit in edits:
        model.apply_edit(edit)
    with pytest.raises(InputError, match=words):
        method.dry_prepare(model)
    assert not any(isinstance(module, Gate) for module in model.network.modules())


def test_the_budget_falls_linearly():
    method = L0(target=0.4, warmup=0.5)
    model = method.prepare(tiny.model("bert"), CONTEXT)
    for progress, aim in ((0.25, 0.7), (0.5, 0.4), (1.0, 0.4)):
        method.after_step(model, progress)
        assert float(method.helpers.aim) == pytest.approx(aim)


@pytest.fixture
def run(monkeypatch, quick_disk, bert_folder, rows_csv):
    """Trains gates to half of the parameters and returns the model's folder."""
    monkeypatch.setattr(quality, "RESAMPLES", 10)

    def run(folder, use, taught, stop=lambda: False):
        methods = [{"use": use, "target": 0.5, "speed": 1000.0, "pressure": 4000.0}]
        train = {"epochs": 8, "lr": 2e-3, "batch": 32, "precision": "fp32"}
        gated = {"name": "gated", "methods": methods, "train": train}
        if taught:
            gated |= {"methods": [*methods, {"use": "logits", "weight": 1.0}], "teacher": "teacher"}
        recipe = {
            "model": str(bert_folder),
            "task": "classification",
            "data": {"path": str(rows_csv)},
            "quantize": [],
            "stages": [{"name": "teacher"}, gated],
        }
        (folder / "stages").mkdir(parents=True, exist_ok=True)
        plan = make_plan(parse(recipe), "gates")
        run_stage(plan, plan.stages[0], folder, Ledger(folder / "ledger.jsonl"), lambda: False)
        run_stage(plan, plan.stages[1], folder, Ledger(folder / "ledger.jsonl"), stop)
        return folder / plan.stages[1].folder / "model"

    return run


@pytest.mark.parametrize(("use", "taught"), [("l0", False), ("joint", False), ("l0", True)])
def test_training_meets_the_budget(use, taught, run, tmp_path, bert_folder):
    """Also where a teacher's answers take the place of the labels."""
    share = numbers(load_folder(run(tmp_path, use, taught))) / numbers(load_folder(bert_folder))
    assert 0.25 < share < 0.7, share


# tests/contracts/test_methods.py interrupts every method once
@pytest.mark.parametrize(
    ("use", "taught"),
    [("l0", True), *(pytest.param(use, False, marks=pytest.mark.slow) for use in ("l0", "joint"))],
)
def test_an_interrupted_training_ends_with_the_same_weights(use, taught, run, tmp_path):
    whole, calls = run(tmp_path / "whole" / "run", use, taught), itertools.count()
    with pytest.raises(Interrupted):
        run(tmp_path / "killed" / "run", use, taught, lambda: next(calls) == 10)
    again = run(tmp_path / "killed" / "run", use, taught)
    assert (again / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
