"""Dense blocks copied into experts."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.convert.sparse_upcycling import SparseUpcycling
from niwaki.models.forward import forward


@torch.no_grad()
@pytest.mark.parametrize("settings", [{}, {"experts": 3, "active": 2, "route": "text"}])
def test_the_model_begins_with_the_answers_that_it_had(settings):
    model = tiny.model("bert")
    model.network.eval()
    batch, before = tiny.batch(model), model.parameters()
    wanted = forward(model.anatomy, batch).logits
    method = SparseUpcycling(**settings)
    found = forward(method.prepare(model, CONTEXT).anatomy, batch).logits
    torch.testing.assert_close(found, wanted, atol=2e-6, rtol=0)
    router = 32 * method.experts + method.experts
    block = 64 * 32 + 64 + 64 * 32 + 32
    assert model.parameters() - before == 3 * (router + (method.experts - 1) * block)
