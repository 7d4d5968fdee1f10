"""Hard concrete gates: values worked out by hand, and cutting."""

import math

import pytest
import torch

import tiny
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
from niwaki.models.model import load_folder

from .gated import CONTEXT, numbers, set_gates


def test_probabilities_and_samples():
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


def test_deterministic_gates():
    alpha = torch.tensor([-6.0, 3.0, -6.0, 0.0])  # open with 0.01, 0.99, 0.01 and 0.83: two of them
    assert deterministic_gates(alpha, open_probability(alpha)).tolist() == pytest.approx([0, 1, 0, 0.5])
    closed = torch.tensor([-9.0, -8.0])
    assert deterministic_gates(closed, open_probability(closed)).tolist() == [0, 0]


def test_a_half_open_whole_has_half_of_its_units():
    """Else more would stay than the budget counts: four units of 0.99 behind a gate of 0.6 are 2.4."""
    gate = Gate(4, torch.arange(4), speed=1.0, whole=True).eval()
    gate.alpha.data = torch.tensor([3.0, 3.1, 3.2, 3.3])
    for probability, units in ((0.6, 2), (0.95, 4), (0.4, 0)):
        gate.whole.data = torch.logit(torch.tensor([probability])) + BETA * math.log(-LOW / HIGH)
        assert gate.probability().sum().item() == pytest.approx(4 * probability, abs=0.1)
        assert (gate.values() > 0).sum() == units


def test_the_expected_fraction():
    half, quarter, all_ = torch.tensor(0.5), torch.tensor(0.25), torch.tensor(1.0)
    assert float(expected([100, 300], [(half, all_), (half, quarter)])) == pytest.approx((50 + 37.5) / 400)


def test_multipliers_increase_above_the_target_and_decrease_below():
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


def test_the_expected_fraction_equals_the_size_after_cutting():
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


@pytest.mark.parametrize("family", [*tiny.SIZED, *tiny.READERS])
@pytest.mark.parametrize("kind", [L0, Joint])
def test_the_cut_model_equals_the_gated_one(family, kind, tmp_path):
    over = ["heads", "ffn"] if family in tiny.SIZED else ["ffn"]
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
