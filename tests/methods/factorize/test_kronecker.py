"""Kronecker factorization of models."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.factorize.kronecker import Kronecker
from niwaki.models.packed.kronecker import Kronecker as Sum


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_matrix_keeps_its_fraction(family):
    model = tiny.model(family)
    before = {path: model.network.get_submodule(path).weight.numel() for path in model.anatomy.whole_matrices()}
    model = Kronecker(keep=0.4, flops=1.0).prepare(model, CONTEXT)
    for path, size in before.items():
        found = model.network.get_submodule(path)
        assert isinstance(found, Sum)
        assert found.first.weight.numel() + found.second.weight.numel() <= 0.4 * size
    assert torch.isfinite(tiny.logits(model, tiny.batch(model))).all()


def test_impossible_factors_are_rejected_in_the_dry_run():
    with pytest.raises(InputError, match=r"kronecker: no matrix has factors with 0.001 of its parameters"):
        Kronecker(keep=0.001).dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="raise keep or flops"):
        Kronecker(flops=0.01).dry_prepare(tiny.model("bert"))


def test_a_sum_of_products_is_exact():
    model = tiny.model("bert")
    for path in model.anatomy.matrices():
        with torch.no_grad():
            weight = model.network.get_submodule(path).weight
            out, inputs = weight.shape
            weight.copy_(torch.kron(torch.randn(8, inputs // 8), torch.randn(out // 8, 8)) / 8)
    before = tiny.logits(model, tiny.batch(model))
    model = Kronecker(keep=0.25, flops=1.5).prepare(model, CONTEXT)
    assert {
        (module.second.out_features, module.first.in_features)
        for module in model.network.modules()
        if isinstance(module, Sum)
    } == {(8, 8)}
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-4, rtol=0)
