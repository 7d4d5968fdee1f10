"""Mixout: the mixed weights, their mean, and what remains after training."""

import pytest
import torch
from torch import nn

import tiny
from calibrated import CONTEXT, drawn
from niwaki.core.errors import InputError
from niwaki.methods.adapt.mixout import Mixed, Mixout, mix
from niwaki.methods.quantize.qat import Qat
from niwaki.methods.quantize.rtn import Rtn
from niwaki.methods.share.share import Share
from niwaki.models.forward import forward


def test_a_mixed_matrix_by_hand():
    """Probability ¾: what stays moves four times as far from its first value, so that the mean over the masks is the weight."""
    weight, first = torch.tensor([[2.0, 3.0]]), torch.tensor([[1.0, 1.0]])
    found = mix(weight, first, torch.tensor([[True, False]]), 0.75)
    assert torch.equal(found, torch.tensor([[1.0, 9.0]]))


def test_the_mean_over_many_masks_is_the_weight():
    weight, first = torch.tensor([[2.0]]).expand(200, 200), torch.zeros(200, 200)
    mixed = Mixed(first, 0.5).train()
    torch.manual_seed(0)
    found = mixed(weight)
    assert set(found.unique().tolist()) == {0.0, 4.0}
    assert float(found.mean()) == pytest.approx(2.0, abs=0.05)


def test_only_training_passes_are_mixed():
    model = tiny.model("bert")
    batch, plain = tiny.batch(model), tiny.logits(model, tiny.batch(model))
    Mixout().prepare(model, CONTEXT)
    weight = model.anatomy.layers[0].part("query").parametrizations.weight.original
    with torch.no_grad():
        assert torch.equal(forward(model.anatomy, batch).logits, forward(model.anatomy, batch).logits)
        for parameter in model.network.parameters():
            parameter.add_(0.05)
    model.network.train()
    passes = [forward(model.anatomy, batch).logits for _ in range(2)]
    assert not torch.allclose(*passes) and not torch.allclose(passes[0], plain)
    passes[0].sum().backward()
    returned = weight.grad == 0
    assert 0.5 < float(returned.float().mean()) < 0.9  # the default returns 0.7 of the weights
    with torch.no_grad():
        assert torch.equal(model.anatomy.layers[0].part("query").weight, weight)


def test_the_trained_weights_remain():
    model = Mixout().prepare(tiny.model("bert"), CONTEXT)
    with torch.no_grad():
        for number, parameter in enumerate(model.network.parameters()):
            parameter.copy_(drawn(*parameter.shape, seed=number))
    query = model.anatomy.layers[1].part("query").parametrizations.weight.original.detach().clone()
    done = Mixout().finish(model)
    assert done.network.state_dict().keys() == tiny.model("bert").network.state_dict().keys()
    assert torch.equal(done.anatomy.layers[1].part("query").weight, query)
    assert type(done.anatomy.layers[1].part("query")) is nn.Linear


@pytest.mark.parametrize("order", [(Mixout(), Qat(bits=4)), (Qat(bits=4), Mixout())])
def test_it_combines_with_trained_rounding(order):
    model = tiny.model("bert")
    for method in order:
        model = method.prepare(model, CONTEXT)
    rounded = model.anatomy.layers[0].part("query").weight.detach().clone()
    for method in order:
        model = method.finish(model)
    assert torch.allclose(model.anatomy.layers[0].part("query").to_dense().weight, rounded, atol=1e-6)


def test_shared_matrices_are_mixed_once():
    model = Mixout().prepare(Share(groups=1).prepare(tiny.model("bert"), CONTEXT), CONTEXT)
    assert len(model.anatomy.layers[0].part("query").parametrizations.weight) == 1
    Mixout().finish(model)
    assert model.anatomy.layers[0].part("query") is model.anatomy.layers[2].part("query")


def test_a_packed_model_is_rejected():
    with pytest.raises(InputError, match="no matrices of floats"):
        Mixout().dry_prepare(Rtn().finish(tiny.model("bert")))
