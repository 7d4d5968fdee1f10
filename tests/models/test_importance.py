"""Importance is the slope of the loss when a gate is turned down: held against finite differences."""

import pytest
import torch
from torch.nn import functional

import tiny
from niwaki.models.importance import gates, importance, most_important


def loss_of(model, batch):
    return functional.cross_entropy(model.network(**batch.inputs).logits, batch.targets)


@pytest.mark.parametrize("family", ["bert", "albert", "distilbert"])
def test_importance_equals_finite_differences(family):
    model = tiny.model(family)
    model.network.double()
    batch = tiny.batch(model)
    worth = importance(model, [batch], loss_of)
    step = 1e-3

    def slope(which, layer, place):
        found = []
        for sign in (1, -1):
            heads = [torch.ones(layer.heads) for layer in model.anatomy.attentions]
            neurons = [torch.ones(block.ffn_size) for block in model.anatomy.blocks]
            columns = torch.ones(model.anatomy.hidden_size)
            {"heads": heads, "neurons": neurons}.get(which, [columns])[layer][place] += sign * step
            with torch.no_grad(), gates(model.anatomy, heads, neurons, columns):
                found.append(loss_of(model, batch).item())
        return abs(found[0] - found[1]) / (2 * step)

    last = len(model.anatomy.layers) - 1
    for layer, head in ((0, 0), (last, 3)):
        assert worth.heads[layer][head].item() == pytest.approx(slope("heads", layer, head), rel=1e-3, abs=1e-7)
    for layer, neuron in ((0, 1), (last, 63)):
        assert worth.neurons[layer][neuron].item() == pytest.approx(slope("neurons", layer, neuron), rel=1e-3, abs=1e-7)
    assert worth.width[7].item() == pytest.approx(slope("width", 0, 7), rel=1e-3, abs=1e-7)


def test_a_head_and_a_neuron_that_say_nothing_are_worth_nothing():
    model = tiny.model("bert")
    layer = model.anatomy.layers[1]
    with torch.no_grad():
        layer.part("out").weight[:, 16:24] = 0  # head 2 is not listened to
        layer.part("ffn_out").weight[:, 5] = 0
    worth = importance(model, [tiny.batch(model)], loss_of)
    assert worth.heads[1][2] == 0 and (worth.heads[1] > 0).sum() == 3
    assert worth.neurons[1][5] == 0
    assert most_important(worth.heads[1], 3) == [0, 1, 3]


def test_batches_add_up_and_the_model_is_left_as_it_was():
    model = tiny.model("bert")
    model.network.train()
    model.network.classifier.weight.requires_grad_(False)
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    batch = tiny.batch(model)
    one, two = importance(model, [batch], loss_of), importance(model, [batch, batch], loss_of)
    torch.testing.assert_close(two.heads[0], 2 * one.heads[0])
    assert model.network.training
    assert not model.network.classifier.weight.requires_grad
    assert all(
        p.requires_grad and p.grad is None for n, p in model.network.named_parameters() if n != "classifier.weight"
    )
    assert all(torch.equal(before[name], value) for name, value in model.network.state_dict().items())
    assert not any(layer.part("out")._forward_pre_hooks for layer in model.anatomy.layers)


def test_most_important_breaks_ties_by_number():
    assert most_important(torch.tensor([1.0, 3.0, 1.0, 3.0, 2.0]), 3) == [1, 3, 4]
    assert most_important(torch.tensor([1.0, 1.0, 1.0]), 2) == [0, 1]
