"""Neurons grouped into experts."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.convert.moefication import Moefication, contributions, fit_router
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.int8 import Int8
from niwaki.models.expert_routing import balance_loss, z_loss
from niwaki.models.forward import Outputs, forward
from niwaki.models.model import Model


@torch.no_grad()
def outputs(model: Model, batch) -> torch.Tensor:
    model.network.eval()
    return forward(model.anatomy, batch).logits


@pytest.mark.parametrize(("family", "cluster"), [("bert", "weights"), ("albert", "activations"), ("gpt2", "weights")])
def test_with_all_experts_nothing_changes(family, cluster):
    model = tiny.model(family)
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    converted = Moefication(experts=7, active=7, cluster=cluster).prepare(model, CONTEXT)
    assert [layer.feed_forward.label() for layer in converted.anatomy.layers] == ["experts"] * len(model.anatomy.layers)
    torch.testing.assert_close(outputs(converted, batch), wanted, atol=2e-6, rtol=0)


def test_fewer_experts_change_the_answers_and_more_of_them_less():
    batch = tiny.batch(tiny.model("bert"))
    wanted = outputs(tiny.model("bert"), batch)
    away = []
    for active in (1, 4, 7):
        converted = Moefication(experts=8, active=active, layers=[1]).prepare(tiny.model("bert"), CONTEXT)
        away.append(float((outputs(converted, batch) - wanted).norm()))
    assert away[0] > away[1] > away[2] > 0


def test_the_worth_of_an_expert_is_the_norm_of_what_it_adds():
    second = torch.nn.Linear(3, 2)
    with torch.no_grad():
        second.weight.copy_(torch.tensor([[3.0, 0.0, 1.0], [4.0, 2.0, 0.0]]))
    found = contributions(torch.tensor([[1.0, 1.0, 2.0]]), second, [[0], [1, 2]])
    torch.testing.assert_close(found.detach(), torch.tensor([[5.0, 8**0.5]]))


@torch.no_grad()
def test_the_router_finds_a_linear_rule():
    rows = torch.randn(400, 6, generator=torch.Generator().manual_seed(0))
    worth = rows @ torch.randn(6, 5, generator=torch.Generator().manual_seed(1)) + torch.arange(5)
    router = torch.nn.Linear(6, 5)
    fit_router(router, rows, worth)
    agree = (router(rows).argmax(dim=1) == worth.argmax(dim=1)).float().mean()
    assert agree > 0.95


def test_the_penalty_is_the_weighted_mean_over_layers():
    routing = tuple(torch.randn(9, 4, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
    method = Moefication(experts=4, active=2, balance=0.5, router_z=0.25)
    found = method.penalty(tiny.model("bert"), Outputs(torch.zeros(1, 2), routing=routing))
    wanted = sum(0.5 * balance_loss(one, 2) + 0.25 * z_loss(one) for one in routing) / 2
    torch.testing.assert_close(found, wanted)
    assert (
        Moefication(balance=0, router_z=0).penalty(tiny.model("bert"), Outputs(torch.zeros(1, 2), routing=routing))
        is None
    )


def test_packed_blocks_become_floats():
    model = tiny.model("bert")
    model.apply_edit(Int8())
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    torch.testing.assert_close(outputs(Moefication(active=8).prepare(model, CONTEXT), batch), wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        ("bert", {"active": 9}, "9 active experts of 8; set active to 8 or less"),
        ("bert", {"experts": 65, "active": 1}, "layer 0 has 64 neurons, fewer than the 65"),
        ("bert", {"layers": [3]}, "moefication: layers: must be different numbers below 3"),
        ("llama", {}, "feed-forward block 'gated'; only dense ones"),
        ("gpt2", {"route": "text"}, "the first token of a causal model knows no text"),
        ("bilstm", {}, "has no attention layers"),
    ],
)
def test_what_cannot_be_converted_is_rejected(family, settings, message):
    with pytest.raises(InputError, match=message):
        Moefication(**settings).dry_prepare(tiny.model(family))


def test_removed_and_converted_blocks_are_rejected():
    model = tiny.model("bert")
    model.apply_edit(Blocks(attention=[], ffn=[1]))
    with pytest.raises(InputError, match="block of layer 1 was removed"):
        Moefication().dry_prepare(model)
    converted = Moefication(layers=[0]).dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="layer 0 has a feed-forward block 'experts'"):
        Moefication().dry_prepare(converted)
