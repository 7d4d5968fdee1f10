"""Roundings during training: what is packed is what was trained."""

from functools import partial

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods._method import Schedules
from niwaki.methods.quantize._rounding import parametrized_input, rounded, trainable
from niwaki.methods.quantize.binary import Binary, BinaryRounding
from niwaki.methods.quantize.qat import Qat
from niwaki.methods.quantize.ternary import Ternary
from niwaki.models.edits.int8 import Int8 as Int8Edit
from niwaki.models.parametrizations import add_parametrization, original_weight

from .packing import with_rest_packed


def test_weights_are_rounded_to_the_nearest_level():
    weight = torch.tensor([[0.1, 0.6, -2.0, 1.4, 9.0]])
    assert rounded(weight, torch.tensor([[1.0, 4.0]]), 4, 4).tolist() == [[0.5, 0.5, -1.5, 1.5, 6.0]]
    assert rounded(weight, torch.tensor([[1.0, 4.0]]), 3, 4).tolist() == [[0.0, 1.0, -1.0, 1.0, 4.0]]


TRAINED = {
    "ternary": (Ternary, 3),
    "binary": (Binary, 2),
    "qat 4": (partial(Qat, bits=4, activations=False), 16),
    "qat 2": (partial(Qat, bits=2, activations=False), 4),
}


@pytest.mark.parametrize("group", [0, 24])
@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("family", ["bert", "albert", "electra", "bilstm"])
def test_packed_weights_equal_the_trained_ones(family, name, group):
    method, base = TRAINED[name][0](group=group), TRAINED[name][1]
    model = method.prepare(tiny.model(family, width=36), CONTEXT)
    optimizer = torch.optim.SGD(model.network.parameters(), lr=0.05)
    for batch in CONTEXT.calibration(model, 3):
        CONTEXT.loss(model, batch).backward()
        optimizer.step()
        optimizer.zero_grad()
        if isinstance(method, Schedules):
            method.after_step(model, 0.5)
    before = tiny.logits(with_rest_packed(model), batch)
    seen = {path: model.network.get_submodule(path).weight.detach() for path in trainable("", model, True)}
    model = method.finish(model)
    for path, weight in seen.items():
        module = model.network.get_submodule(path)
        assert torch.equal(module.store(), weight) and module.store.base == base
        assert len(weight[0].unique()) <= base * module.store.groups
    close = (
        torch.testing.assert_close
        if family == "bilstm"
        else lambda one, two, **_: torch.equal(one, two) or pytest.fail()
    )
    close(tiny.logits(model, batch), before, atol=0.05, rtol=0)


@pytest.mark.parametrize("name", TRAINED)
def test_training_lowers_the_loss_and_moves_the_floats_behind_the_rounding(name):
    model = TRAINED[name][0]().prepare(tiny.model("bert"), CONTEXT)
    batch = tiny.batch(model)
    module = model.anatomy.layers[0].part("ffn_in")
    seen, behind = module.weight.detach().clone(), original_weight(module).detach().clone()
    optimizer = torch.optim.Adam(model.network.parameters(), lr=0.003)
    losses = []
    for _ in range(12):
        loss = CONTEXT.loss(model, batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]
    assert not torch.equal(original_weight(module), behind) and not torch.equal(module.weight, seen)


@pytest.mark.parametrize("name", TRAINED)
def test_packed_weights_cannot_be_trained(name):
    model = tiny.model("bert")
    model.apply_edit(Int8Edit())
    with pytest.raises(
        InputError,
        match=f"{name.split()[0]}: 'bert.encoder.layer.0.attention.self.query' is packed and cannot be trained; start from an earlier",
    ):
        TRAINED[name][0]().dry_prepare(model)


def test_scale_is_computed_from_the_output_of_earlier_parametrizations():
    class Half(torch.nn.Module):
        def forward(self, weight):
            return weight * torch.tensor([1.0, 0.0])

    linear = torch.nn.Linear(2, 1)
    add_parametrization(linear, Half())
    rounding = BinaryRounding(linear.weight, 2, 0)
    add_parametrization(linear, rounding)
    torch.testing.assert_close(parametrized_input(linear, rounding), original_weight(linear) * torch.tensor([1.0, 0.0]))
