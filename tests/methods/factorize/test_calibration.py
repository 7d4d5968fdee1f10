"""Calibration statistics against autograd."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.factorize._calibration import covariances, fisher_rows, output_gradients
from niwaki.models.forward import Batch


def test_covariances_ignore_padding():
    model = tiny.model("bert")
    path, seen = "bert.encoder.layer.1.output.dense", []
    handle = model.network.get_submodule(path).register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    batch = tiny.batch(model)
    tiny.logits(model, batch)
    handle.remove()
    rows = torch.cat([row[: int(mask.sum())] for row, mask in zip(seen[0], batch.mask, strict=True)]).double()
    torch.testing.assert_close(covariances(model, [path], [batch], CONTEXT)[path], rows.T @ rows)


@pytest.mark.parametrize("frozen", [False, True])
def test_fisher_rows_are_squared_weight_gradients(frozen):
    model = tiny.model("bert")
    path = "bert.encoder.layer.1.output.dense"
    weight = model.network.get_submodule(path).weight
    wanted = torch.zeros(32)
    for seed in range(2):
        (gradient,) = torch.autograd.grad(CONTEXT.loss(model, tiny.batch(model, seed=seed)), [weight])
        wanted += gradient.square().sum(dim=1)
    model.network.requires_grad_(not frozen)
    found = fisher_rows(model, [path], CONTEXT.calibration(model, 2), CONTEXT)[path]
    torch.testing.assert_close(found.float(), wanted, rtol=1e-4, atol=1e-9)
    assert all(parameter.grad is None for parameter in model.network.parameters())
    assert not model.network.get_submodule(path)._forward_hooks


def test_output_gradients_are_squared():
    """Of a bias the gradient is that of the outputs, summed over tokens: with one token in all they are the same."""
    model = tiny.model("bert")
    path = "bert.encoder.layer.2.output.dense"
    inputs = {name: value[:1, :1] for name, value in tiny.batch(model).inputs.items()}
    batch = Batch(inputs, tiny.batch(model).targets[:1], torch.zeros(1))
    (gradient,) = torch.autograd.grad(CONTEXT.loss(model, batch), [model.network.get_submodule(path).bias])
    torch.testing.assert_close(output_gradients(model, [path], [batch], CONTEXT)[path].float(), gradient.square())
    twice = output_gradients(model, [path], [batch, batch], CONTEXT)[path]
    torch.testing.assert_close(twice.float(), 2 * gradient.square())
