"""Gates: the numbers by hand, what is cut against what the gates showed, and trainings that are killed and go on."""

import itertools
import math

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.methods._method import Context, Reshapes, Schedules, methods_with
from niwaki.methods.prune._gates import (
    BETA,
    HIGH,
    LOW,
    Gate,
    Gates,
    Lagrangian,
    deterministic_gates,
    expected,
    open_probability,
    sample_gates,
)
from niwaki.methods.prune.joint import Joint
from niwaki.methods.prune.l0 import L0
from niwaki.methods.prune.movement import Movement
from niwaki.methods.prune.nm import Nm
from niwaki.methods.quantize.int8 import Int8 as Int8Method
from niwaki.models.edits.blocks import gone
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

CONTEXT = Context(0, None, None, None, None, None, None)


def set_gates(model, seed: int = 0) -> None:
    """Some open, some closed, some in between."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for gate in (module for module in model.network.modules() if isinstance(module, Gate)):
            gate.alpha.copy_((8 * torch.rand(gate.alpha.shape, generator=generator) - 5) / gate.speed)


def numbers(model) -> int:
    return sum(model.network.get_submodule(path).weight.numel() for path in set(model.anatomy.matrices()))


def test_the_probability_and_the_draw_by_hand():
    alpha = torch.tensor([0.0, 2.0])
    assert open_probability(alpha).tolist() == pytest.approx(
        [1 / (1 + 11 ** (-2 / 3)), 1 / (1 + math.exp(-2) * 11 ** (-2 / 3))]
    )
    half = torch.full((3,), 0.5)  # no noise: the sigmoid of alpha / β, from -0.1 to 1.1
    assert sample_gates(torch.tensor([0.0, 9.0, -9.0]), half).tolist() == pytest.approx([0.5, 1, 0])
    luck = torch.rand(200_000, generator=torch.Generator().manual_seed(0)).clamp(1e-6, 1 - 1e-6)
    for value in (-2.0, 0.0, 1.0):  # the formula against draws
        share = (sample_gates(torch.tensor(value), luck) > 0).float().mean()
        assert float(share) == pytest.approx(float(open_probability(torch.tensor(value))), abs=0.005)


def test_settled_gates_by_hand():
    alpha = torch.tensor([-6.0, 3.0, -6.0, 0.0])  # open with 0.01, 0.99, 0.01 and 0.83: two of them
    assert deterministic_gates(alpha, open_probability(alpha)).tolist() == pytest.approx([0, 1, 0, 0.5])
    closed = torch.tensor([-9.0, -8.0])
    assert deterministic_gates(closed, open_probability(closed)).tolist() == [0, 0]


def test_a_whole_that_is_half_open_has_half_of_its_units():
    """Else more would stay than the budget counts: four units of 0.99 behind a gate of 0.6 are 2.4."""
    gate = Gate(4, torch.arange(4), speed=1.0, whole=True).eval()
    gate.alpha.data = torch.tensor([3.0, 3.1, 3.2, 3.3])
    for probability, units in ((0.6, 2), (0.95, 4), (0.4, 0)):
        gate.whole.data = torch.logit(torch.tensor([probability])) + BETA * math.log(-LOW / HIGH)
        assert gate.probability().sum().item() == pytest.approx(4 * probability, abs=0.1)
        assert (gate.values() > 0).sum() == units


def test_the_expected_share_by_hand():
    half, quarter, all_ = torch.tensor(0.5), torch.tensor(0.25), torch.tensor(1.0)
    assert float(expected([100, 300], [(half, all_), (half, quarter)])) == pytest.approx((50 + 37.5) / 400)


def test_multipliers_rise_while_too_much_stays_and_fall_afterwards():
    found = Lagrangian(10.0)
    found.aim.fill_(0.5)
    optimizer = torch.optim.SGD(found.parameters(), lr=0.1)
    for share, first in ((0.9, 0.4), (0.9, 0.8), (0.1, 0.4)):  # each step adds 10 × 0.1 × (share - 0.5)
        found(torch.tensor(share)).backward()
        optimizer.step()
        optimizer.zero_grad()
        assert float(found.first.detach()) * 10 == pytest.approx(first)
    assert float(found.second.detach()) * 100 == pytest.approx(3 * 1.6)  # 100 × 0.1 × 0.4², always upwards
    assert float(found(torch.tensor(0.6)).detach()) == pytest.approx(0.4 * 0.1 + 4.8 * 0.01)


def test_what_stays_is_counted_as_it_is_cut():
    """Gates that are certain: the expected share is that of the numbers that are left."""
    model = tiny.model("bert")
    whole = numbers(model)
    gates = Gates(model, ["heads", "ffn"], 10.0, False, "l0")
    with torch.no_grad():
        for number, gate in enumerate((*gates.heads, *gates.neurons)):
            gate.alpha.fill_(5.0)  # 50, once multiplied by the speed
            gate.alpha[: number % 3 + 1] = -5.0
    share = float(gates.share().detach())
    gates.cut(model)
    assert [layer.heads for layer in model.anatomy.layers] == [3, 2, 1]
    assert [layer.ffn_size for layer in model.anatomy.layers] == [63, 62, 61]
    assert numbers(model) / whole == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("family", [*tiny.FAMILIES, *tiny.READERS])
@pytest.mark.parametrize("kind", [L0, Joint])
def test_what_is_cut_gives_what_the_gates_showed(family, kind, tmp_path):
    over = ["heads", "ffn"] if family in tiny.FAMILIES else ["ffn"]
    method = kind(over=over, target=0.9)
    model = method.prepare(tiny.model(family), CONTEXT)
    before = method._gates.share()
    set_gates(model)
    batch = tiny.batch(model)
    wanted = tiny.logits(model, batch)
    model = method.finish(model)
    assert float(before.detach()) > 0.9
    assert not any(isinstance(module, Gate) for module in model.network.modules())
    assert not any("parametrizations" in name or "alpha" in name for name in model.network.state_dict())
    assert all(0 < block.ffn_size < 64 for block in model.anatomy.blocks)
    found = tiny.logits(model, batch)
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=0)
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), found)


def test_ranks_have_gates_too_and_all_can_go_together():
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


def test_layers_that_share_their_matrices_share_their_gates():
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


def test_a_block_that_closes_is_taken_out():
    method = Joint()
    model = method.prepare(tiny.model("bert"), CONTEXT)
    with torch.no_grad():
        method._gates.neurons[1].whole.fill_(-1.0)
        method._gates.heads[2].whole.fill_(-1.0)
    wanted = tiny.logits(model, tiny.batch(model))
    model = method.finish(model)
    assert [layer.ffn_size for layer in model.anatomy.layers] == [62, 1, 62]  # 98 of 100 are expected to be open
    assert gone(model.anatomy.layers, "ffn") == [1] and gone(model.anatomy.layers, "attention") == [2]
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), wanted, atol=2e-5, rtol=0)
    again = L0(target=0.8)
    model = again.finish(again.prepare(again.dry_prepare(model), CONTEXT))
    assert gone(model.anatomy.layers, "ffn") == [1] and model.anatomy.layers[0].ffn_size < 63


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_one_attention_block_stays_though_it_says_nothing(family):
    method = Joint()
    model = method.prepare(tiny.model(family), CONTEXT)
    with torch.no_grad():
        for gate in method._gates.heads:
            gate.whole.fill_(-1.0)
    wanted = tiny.logits(model, tiny.batch(model))
    model = method.finish(model)
    assert gone(model.anatomy.layers, "attention") == list(range(1, len(model.anatomy.layers)))
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), wanted, atol=2e-5, rtol=0)


@pytest.mark.parametrize("other", [Movement(), Nm(n=3), Int8Method()], ids=["movement", "nm", "int8"])
@pytest.mark.parametrize("last", [False, True], ids=["after", "before"])
def test_other_methods_of_the_stage_may_finish_before_or_after(other, last):
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
def test_what_cannot_be_is_refused_before_any_work(method, edits, family, words):
    model = tiny.model(family, ffn=128)
    for edit in edits:
        model.apply_edit(edit)
    with pytest.raises(InputError, match=words):
        method.dry_prepare(model)
    assert not any(isinstance(module, Gate) for module in model.network.modules())


def test_the_budget_falls_in_a_line():
    method = L0(target=0.4, warmup=0.5)
    model = method.prepare(tiny.model("bert"), CONTEXT)
    for progress, aim in ((0.25, 0.7), (0.5, 0.4), (1.0, 0.4)):
        method.after_step(model, progress)
        assert float(method.helpers.aim) == pytest.approx(aim)


@pytest.mark.parametrize(("use", "taught"), [("l0", False), ("joint", False), ("l0", True)])
def test_the_budget_is_met_by_training_and_a_kill_changes_nothing(
    use, taught, tmp_path, monkeypatch, quick_disk, bert_folder, rows_csv
):
    """Also where a teacher's answers take the place of the labels."""
    monkeypatch.setattr(quality, "RESAMPLES", 10)
    methods = [
        {"use": use, "target": 0.5, "speed": 1000.0, "pressure": 4000.0},
        *([{"use": "logits", "weight": 1.0}] if taught else []),
    ]
    train = {"epochs": 8, "lr": 2e-3, "batch": 32, "precision": "fp32"}
    stages = [
        {"name": "teacher"},
        {"name": "made", "methods": methods, "train": train, **({"teacher": "teacher"} if taught else {})},
    ]
    recipe = {
        "model": str(bert_folder),
        "task": "classification",
        "data": {"path": str(rows_csv)},
        "quantize": [],
        "stages": stages,
    }

    def run(folder, stop=lambda: False):
        (folder / "stages").mkdir(parents=True, exist_ok=True)
        plan = make_plan(parse(recipe), "gates")
        run_stage(plan, plan.stages[0], folder, Ledger(folder / "ledger.jsonl"), lambda: False)
        run_stage(plan, plan.stages[1], folder, Ledger(folder / "ledger.jsonl"), stop)
        return folder / plan.stages[1].folder / "model"

    whole, asked = run(tmp_path / "whole"), itertools.count()
    with pytest.raises(Interrupted):
        run(tmp_path / "killed", lambda: next(asked) == 10)
    again = run(tmp_path / "killed")
    assert (again / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    share = numbers(load_folder(whole)) / numbers(load_folder(bert_folder))
    assert 0.25 < share < 0.7, share
