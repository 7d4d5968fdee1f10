"""What a matrix is seen through while it is trained."""

import pytest
import torch
from torch import nn

import tiny
from niwaki.models.edits.share import Share
from niwaki.models.parametrizations import (
    add_parametrization,
    find_parametrizations,
    merge_parametrizations,
    merged,
    original_weight,
)


class Half(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight * 0.5


class Mask(nn.Module):
    def __init__(self, mask: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight * self.mask


def linear() -> nn.Linear:
    plain = nn.Linear(2, 2)
    with torch.no_grad():
        plain.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    return plain


def test_the_product_uses_what_is_seen_and_gradients_reach_what_is_behind():
    module = linear()
    add_parametrization(module, Mask(torch.tensor([[1.0, 0.0], [0.0, 1.0]])))
    add_parametrization(module, Half())
    assert module.weight.tolist() == [[0.5, 0], [0, 2]] and original_weight(module).tolist() == [[1, 2], [3, 4]]
    module(torch.ones(1, 2)).sum().backward()
    assert original_weight(module).grad.tolist() == [[0.5, 0], [0, 0.5]]
    assert original_weight(linear()).tolist() == [[1, 2], [3, 4]]


def test_parametrizations_of_a_kind_are_found():
    model = tiny.model("bert")
    paths = list(model.anatomy.matrices())
    add_parametrization(model.network.get_submodule(paths[3]), Half())
    add_parametrization(model.network.get_submodule(paths[3]), Mask(torch.ones(32, 32)))
    assert [
        (path, type(parametrization)) for path, _, parametrization in find_parametrizations(model.network, paths, Mask)
    ] == [(paths[3], Mask)]
    assert len(list(find_parametrizations(model.network, paths, nn.Module))) == 2


@pytest.mark.parametrize("kind", ["linear", "without bias", "table"])
def test_baked_keeps_what_is_seen_and_nothing_else(kind):
    module = {"linear": linear(), "without bias": nn.Linear(3, 2, bias=False), "table": nn.Embedding(4, 3)}[kind]
    add_parametrization(module, Half())
    given = torch.tensor([1, 0]) if kind == "table" else torch.ones(1, module.in_features)
    seen, names = module(given), {"weight", "bias"} if kind == "linear" else {"weight"}
    plain = merged(module)
    assert type(plain) is (nn.Embedding if kind == "table" else nn.Linear) and set(plain.state_dict()) == names
    torch.testing.assert_close(plain(given), seen)
    assert plain.weight.requires_grad and merged(plain) is plain


def test_bake_leaves_the_names_of_the_network_and_what_is_shared():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    names, paths = list(model.network.state_dict()), list(model.anatomy.matrices())
    for module in {id(m): m for m in map(model.network.get_submodule, paths)}.values():
        add_parametrization(module, Half())
    before = tiny.logits(model, tiny.batch(model))
    merge_parametrizations(model.network, paths)
    assert list(model.network.state_dict()) == names
    assert model.anatomy.layers[0].part("out") is model.anatomy.layers[1].part("out")
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before)


def test_buffers_of_a_parametrization_are_part_of_the_state():
    module, other = linear(), linear()
    add_parametrization(module, Mask(torch.tensor([[1.0, 0.0], [0.0, 1.0]])))
    add_parametrization(other, Mask(torch.ones(2, 2)))
    other.load_state_dict(module.state_dict())
    assert torch.equal(other.weight, module.weight)
