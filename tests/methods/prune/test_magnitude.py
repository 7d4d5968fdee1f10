"""Magnitude pruning."""

import pytest
import torch

import tiny
from niwaki.methods.prune._masks import Mask, matrices
from niwaki.methods.prune.magnitude import Magnitude
from niwaki.models.packed.sparse import Sparse as Store
from niwaki.models.parametrizations import find_parametrizations

from .sparsity import CONTEXT, of_all_forms, sparsity, weights


@pytest.mark.parametrize("scope", ["global", "layer"])
@pytest.mark.parametrize("form", of_all_forms())
def test_without_training_the_smallest_weights_are_removed_at_once(form, scope):
    model = of_all_forms()[form]
    before = weights(model)
    method = Magnitude(sparsity=0.75, scope=scope)
    model = method.finish(method.prepare(model, CONTEXT))
    after = weights(model)
    assert sparsity(model) == pytest.approx(0.75, abs=0.002)
    assert all(isinstance(module.store, Store) for module in matrices(model, "test").values())
    shares = [float((weight == 0).float().mean()) for weight in after]
    assert (max(shares) - min(shares) < 0.01) == (scope == "layer")
    for old, new in zip(before, after, strict=True):
        remaining = new != 0
        if scope == "layer":
            assert old[~remaining].abs().max() <= old[remaining].abs().min() + 1e-6
        torch.testing.assert_close(new[remaining], old[remaining], atol=0.25 if form == "digits" else 0.02, rtol=0)


def test_packed_values_and_biases_stay():
    models = of_all_forms()
    for form, base in (("int8", 255), ("digits", 16), ("plain", 0)):
        method = Magnitude(scope="layer")
        biases = [module.bias.detach().clone() for module in matrices(models[form], "test").values()]
        pruned = method.finish(method.prepare(models[form], CONTEXT))
        found = matrices(pruned, "test").values()
        assert {module.store.base for module in found} == {base}
        assert all(torch.equal(module.bias, bias) for module, bias in zip(found, biases, strict=True))


def test_a_masked_weight_returns_when_others_shrink():
    model = tiny.model("bert", layers=1)
    method = Magnitude(sparsity=0.5, scope="layer", begin=0.0, end=0.5)
    model = method.prepare(model, CONTEXT)
    _, module, mask = next(find_parametrizations(model.network, model.anatomy.matrices(), Mask))
    method.after_step(model, 0.25)
    gone = ~mask.remaining
    assert gone.float().mean() == pytest.approx(0.5 * 7 / 8, abs=0.001) and (module.weight[gone] == 0).all()
    with torch.no_grad():
        module.parametrizations.weight.original[~gone] *= 1e-9
    method.after_step(model, 0.251)  # not yet due
    assert torch.equal(mask.remaining, ~gone)
    method.after_step(model, 0.5)
    assert mask.remaining[gone].all() and (module.weight[gone] != 0).all()
    assert method.min_progress == 0.5
