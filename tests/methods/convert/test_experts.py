"""What methods share that make experts: calibration inputs, and copies of parts of a dense block."""

import torch

import tiny
from niwaki.methods.convert._experts import DenseBlock, block_inputs, new_router, split
from niwaki.models.forward import forward
from niwaki.models.parts.feed_forwards.experts import Experts, ExpertsSettings


@torch.no_grad()
def test_inputs_are_those_of_real_tokens_in_every_layer():
    model = tiny.model("bert")
    batch = tiny.batch(model)
    found = block_inputs(model, dict(enumerate(model.anatomy.layers)), [batch, batch], most=10_000)
    assert {len(rows) for rows in found.values()} == {2 * int(batch.mask.sum())}
    hidden = forward(model.anatomy, batch, frozenset({"hidden"})).hidden[1][batch.mask.bool()]
    layer = model.anatomy.layers[0]
    outputs = layer.feed(found[0][: len(hidden)])
    torch.testing.assert_close(outputs.sum(dim=0), hidden.sum(dim=0), atol=1e-3, rtol=0)  # in another order
    assert len(block_inputs(model, {1: model.anatomy.layers[1]}, [batch], most=3)[1]) == 3


@torch.no_grad()
def test_two_experts_and_shared_neurons_add_up_to_the_block():
    block = DenseBlock(torch.nn.Linear(4, 6), torch.nn.Linear(6, 4), torch.nn.GELU())
    part = Experts(4, ExpertsSettings(experts=2, active=2, neurons=5, shared=1)).eval()
    split(block, [[5, 0, 3], [2, 4], [1]], part, total=3)
    rows = torch.randn(7, 4)
    torch.testing.assert_close(part(rows), block.second(block.activation(block.first(rows))))


def test_routers_of_layers_differ_and_follow_from_the_seed():
    routers = [torch.nn.Linear(4, 3) for _ in range(3)]
    for router, number in zip(routers, (0, 1, 0), strict=True):
        new_router(router, 5, number)
    assert torch.equal(routers[0].weight, routers[2].weight) and not torch.equal(routers[0].weight, routers[1].weight)
