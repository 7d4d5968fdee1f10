"""Quantization-aware training: 8 bits, and scales that follow the weights."""

import pytest
import torch

import tiny
from calibrated import CONTEXT, drawn
from niwaki.methods.quantize._rounding import rounded, trainable
from niwaki.methods.quantize.qat import Int8Rounding, Qat, TrackedRounding
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear
from niwaki.models.packed.low_bit import LowBit, as_float16

from .packing import with_rest_packed


@pytest.mark.parametrize("activations", [True, False])
@pytest.mark.parametrize("family", ["bert", "albert", "cnn"])
def test_eight_bits_are_packed_as_trained(family, activations):
    method = Qat(activations=activations)
    model = method.prepare(tiny.model(family), CONTEXT)
    batch = tiny.batch(model)
    CONTEXT.loss(model, batch).backward()
    torch.optim.SGD(model.network.parameters(), lr=0.05).step()
    before = tiny.logits(with_rest_packed(model), batch)
    seen = {path: model.network.get_submodule(path).weight.detach() for path in trainable("", model, True)}
    model = method.finish(model)
    for path, weight in seen.items():
        module = model.network.get_submodule(path)
        assert isinstance(module, Int8Linear | Int8Embedding) and torch.equal(module.to_dense().weight, weight)
    assert not any(module._forward_pre_hooks for module in model.network.modules())
    moved = float((tiny.logits(model, batch) - before).abs().max())
    assert moved > 1e-3 if activations else moved < 1e-4  # torch itself does not round activations


def test_weights_are_rounded_to_eight_bits():
    weight = torch.tensor([[1.27, -0.644, 0.004]], requires_grad=True)
    seen = Int8Rounding(weight)(weight)
    torch.testing.assert_close(seen, torch.tensor([[1.27, -0.64, 0.0]]))
    seen.sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0, 1.0]]


def test_scales_follow_the_weights():
    """Weights that grow by a tenth take their scale along, to what a search finds for them."""
    weight = drawn(4, 64)
    rounding = TrackedRounding(weight, 7, 16)
    assert torch.equal(rounding.step, as_float16(LowBit.of(weight, 7, 16).scale.float()))
    for _ in range(10):
        weight = 1.01 * weight
        rounding.follow(weight)
    again = TrackedRounding(weight, 7, 16)
    assert (rounding(weight) - weight).norm() < 1.02 * (again(weight) - weight).norm()
    assert (rounded(weight, TrackedRounding(drawn(4, 64), 7, 16).step, 7, 16) - weight).norm() > 1.02 * (
        again(weight) - weight
    ).norm()
