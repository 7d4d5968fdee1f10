"""Networks of niwaki called like transformers models."""

import pytest
import torch

import tiny
from niwaki.models.forward import forward
from niwaki.models.record import HIDDEN


@pytest.mark.parametrize("family", ["averaging", "cnn", "bilstm"])
@torch.no_grad()
def test_a_call_is_the_forward_pass(family):
    model = tiny.model(family)
    batch = tiny.batch(model)
    outputs = forward(model.anatomy, batch, frozenset({HIDDEN}))
    found = model.network(**batch.inputs, output_hidden_states=True)
    assert torch.equal(found.logits, outputs.logits)
    assert all(torch.equal(one, other) for one, other in zip(found.hidden_states, outputs.hidden, strict=True))


@torch.no_grad()
def test_without_a_mask_all_tokens_are_read():
    network, ids = tiny.model("cnn").network, torch.tensor([[2, 9, 11, 3]])
    found = network(ids)
    assert torch.equal(found.logits, network(ids, torch.ones_like(ids)).logits) and found.hidden_states is None
    masked = network(ids, torch.tensor([[1, 1, 1, 0]]))
    assert not torch.allclose(found.logits, masked.logits)
