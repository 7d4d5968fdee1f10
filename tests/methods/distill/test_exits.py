"""Early exits: the loss, rejected models, and a trained network that answers from its inner layers."""

import pytest
import torch

import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
from niwaki.meter.ledger import Ledger
from niwaki.methods._method import Context
from niwaki.methods.distill.exits import Exits
from niwaki.models.edits.layers import Layers
from niwaki.models.forward import Batch, Outputs, forward, run_layer_range
from niwaki.models.model import load_folder
from niwaki.models.record import HIDDEN
from niwaki.run import cascade as making
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage


def apart(student, followed, batch, temperature):
    """Stands for a task's way to compare logits."""
    return (student - followed).square().sum() * temperature


def a_batch(model):
    ids = torch.randint(5, model.network.config.vocab_size, (3, 7), generator=torch.Generator().manual_seed(1))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return Batch(inputs, torch.zeros(3, dtype=torch.long), torch.arange(3))


@pytest.mark.parametrize("taught", [True, False])
def test_the_loss_is_the_mean_over_exits(taught):
    model = tiny.model("bert", layers=4)
    batch, teacher = a_batch(model), torch.tensor([[1.0, -1.0]] * 3)
    context = Context(0, (lambda batch: Outputs(teacher)) if taught else None, None, None, None, apart, None)
    method = Exits(after=[1, 3], weight=0.5, temperature=2.0)
    method.prepare(model, context)
    outputs = forward(model.anatomy, batch, frozenset({HIDDEN}))
    found = method.loss(model, batch, outputs, torch.tensor(8.0), context)
    ids, mask = batch.inputs["input_ids"], batch.mask
    at_exits = [
        run_layer_range(model.anatomy, {"input_ids": ids, "attention_mask": mask}, 0, depth)[0] for depth in (1, 3)
    ]
    followed = teacher if taught else outputs.logits
    wanted = 8.0 + 0.5 * sum(2.0 * (logits - followed).square().sum() for logits in at_exits) / 2
    assert found.item() == pytest.approx(wanted.item(), rel=1e-4)
    found.backward()
    assert model.network.classifier.weight.grad is not None


def test_without_a_teacher_the_last_layer_gets_no_gradient():
    """Only the exits follow; the last answer is what it would be."""
    model = tiny.model("bert", layers=2)
    context = Context(0, None, None, None, None, apart, None)
    method = Exits(after=[1])
    method.prepare(model, context)
    outputs = forward(model.anatomy, a_batch(model), frozenset({HIDDEN}))
    method.loss(model, a_batch(model), outputs, torch.tensor(0.0), context).backward()
    last = model.anatomy.layers[-1].module
    assert all(parameter.grad is None for parameter in last.parameters())


@pytest.mark.parametrize(("depth", "after"), [(2, [1]), (3, [1, 2]), (6, [2, 4]), (12, [4, 8])])
def test_default_exits_are_after_thirds_of_the_layers(depth, after):
    model = tiny.model("bert", layers=depth)
    Exits().dry_prepare(model)
    assert model.network.config.niwaki_exits == after


@pytest.mark.parametrize("after", [[0], [3], [2, 1], [1, 1], [-1, 2]], ids=str)
def test_missing_layers_are_rejected(after):
    with pytest.raises(InputError, match="increasing numbers from 1 to 2"):
        Exits(after=after).dry_prepare(tiny.model("bert", layers=3))


def test_models_without_early_answers_are_rejected():
    with pytest.raises(InputError, match="only one layer"):
        Exits().dry_prepare(tiny.model("bert", layers=1))
    with pytest.raises(InputError, match="for every token"):
        Exits().dry_prepare(tiny.model("bert", head="TokenClassification"))
    with pytest.raises(InputError, match="no attention layers"):
        Exits().dry_prepare(tiny.model("averaging"))


def test_layers_taken_out_take_the_exits_with_them(tmp_path):
    model = tiny.model("bert", layers=4)
    Exits().dry_prepare(model)
    tiny.deployed(model, tmp_path / "before")
    assert load_folder(tmp_path / "before").network.config.niwaki_exits == [1, 3]
    model.apply_edit(Layers(keep=[0, 2, 3]))
    tiny.deployed(model, tmp_path / "after")
    assert load_folder(tmp_path / "after").network.config.niwaki_exits is None
    assert not list((tmp_path / "after").glob("exit-*"))


def test_a_trained_network_is_left_early(bert_folder, tmp_path, monkeypatch, quick_disk):
    """From a recipe to a cascade of one model, whose exits answer better than those of one that was not trained to."""
    monkeypatch.setattr(making, "TEXTS", 8)
    rows = tiny.write_csv(tmp_path / "rows.csv", count=500, seed=2)
    train = {"epochs": 6, "batch": 16, "lr": 2e-3, "precision": "fp32"}
    stages = [
        {"name": "plain", "train": train},
        {"name": "left", "start": "", "methods": [{"use": "exits", "after": [1]}], "train": train},
    ]
    data = {"path": str(rows), "validation": 0.4, "test": 0.2}
    plan = make_plan(
        parse({"model": str(bert_folder), "task": "classification", "data": data, "quantize": [], "stages": stages}),
        "exits",
    )
    folder = tmp_path / "run"
    (folder / "stages").mkdir(parents=True)
    for stage in plan.stages:
        run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), lambda: False)
    plain, left = (folder / stage.folder / "model" for stage in plan.stages)
    table = plan.task.splits()["test"]

    def score(model, layers):
        network = load_folder(model)
        network.apply_edit(Layers(keep=layers))
        found = Predictor(tiny.deployed(network, tmp_path / f"{model.parent.name}-{layers}")).values(
            plan.task.inputs(table)
        )
        return sum(a == b for a, b in zip(found, table.column("label").to_pylist(), strict=True)) / table.num_rows

    assert score(left, 1) > max(0.9, score(plain, 1) + 0.2)
    result = api.cascade(
        [left], data=rows, overrides=["data.validation=0.4", "data.test=0.2"], keep=0.9, out=tmp_path / "made"
    )
    assert [entry["layers"] for entry in result["models"]] == [1, 0] and result["models"][0]["answers"] > 0.5
    assert [path.name for path in (tmp_path / "made").iterdir() if path.is_dir()] == ["model-0"]
    assert api.evaluate(tmp_path / "made", data=rows, overrides=["data.validation=0.4", "data.test=0.2"])[
        "value"
    ] == pytest.approx(result["test"]["score"])
