"""The head on pooled tokens: its logits by hand, and which models it leaves as they are."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.adapt.pooled_head import PooledHead
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder


@pytest.mark.parametrize("mode", ["mean", "max", "mean_sqrt_len_tokens"])
@torch.no_grad()
def test_logits_are_a_dense_layer_and_a_matrix_on_pooled_tokens(mode, tmp_path):
    model = PooledHead().dry_prepare(tiny.model(niwaki_pooling={"mode": mode}))
    batch, head = tiny.batch(model), model.network.head
    hidden, real = model.network.bert(**batch.inputs).last_hidden_state, batch.mask[..., None].bool()
    tokens = real.sum(dim=1)
    pooled = {
        "mean": (hidden * real).sum(dim=1) / tokens,
        "max": hidden.masked_fill(~real, -torch.inf).amax(dim=1),
        "mean_sqrt_len_tokens": (hidden * real).sum(dim=1) / tokens.sqrt(),
    }[mode]
    wanted = head.linear(torch.tanh(head.dense(pooled)))
    for found in (run_padded(model.anatomy, batch.inputs), forward(model.anatomy, batch).logits):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    model.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, forward(model.anatomy, batch).logits)


@pytest.mark.parametrize(
    "settings", [{"niwaki_pooling": {"mode": "cls"}}, {"head": "TokenClassification"}], ids=["first token", "tagger"]
)
def test_auto_leaves_other_models_as_they_are(settings):
    model = tiny.model(**settings)
    assert PooledHead().dry_prepare(model).blueprint.edits == []


def test_a_mode_for_a_head_that_cannot_pool_is_rejected():
    with pytest.raises(InputError, match=r"pooled_head: .* leave it out"):
        PooledHead(mode="mean").dry_prepare(tiny.model(head="TokenClassification"))


def test_dropout_is_applied_while_training():
    model = PooledHead(mode="mean", dropout=0.5).dry_prepare(tiny.model())
    batch = tiny.batch(model)
    model.network.head.train()
    torch.manual_seed(0)
    first, second = (forward(model.anatomy, batch).logits for _ in range(2))
    assert not torch.equal(first, second)
