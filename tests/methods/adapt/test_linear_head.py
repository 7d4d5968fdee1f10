"""The linear head: it reads embeddings as the checkpoint pools them."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.adapt.linear_head import LinearHead, embedded
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder


def model(**more):
    return tiny.model(problem_type="single_label_classification", **more)


@pytest.mark.parametrize("mode", ["mean", "cls"])
@torch.no_grad()
def test_the_head_reads_embeddings_as_the_checkpoint_pools_them(mode, tmp_path):
    edited = LinearHead().dry_prepare(model(niwaki_pooling={"mode": mode}))
    batch = tiny.batch(edited)
    vectors, _ = embedded(edited, [batch])
    hidden, real = edited.network.bert(**batch.inputs).last_hidden_state, batch.mask[..., None]
    wanted = hidden[:, 0] if mode == "cls" else (hidden * real).sum(dim=1) / real.sum(dim=1)
    np.testing.assert_allclose(vectors, torch.nn.functional.normalize(wanted).numpy(), atol=1e-5)
    logits = edited.network.head.linear(torch.from_numpy(vectors))
    for found in (run_padded(edited.anatomy, batch.inputs), forward(edited.anatomy, batch).logits):
        torch.testing.assert_close(found, logits, atol=1e-5, rtol=0)
    edited.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, forward(edited.anatomy, batch).logits)


def test_a_head_that_pools_already_is_fitted_again():
    edited = LinearHead().dry_prepare(model())
    assert (
        LinearHead().dry_prepare(edited).blueprint.edits == edited.blueprint.edits and len(edited.blueprint.edits) == 1
    )


def test_other_tasks_are_rejected():
    with pytest.raises(InputError, match="fits one label for each text; leave it out"):
        LinearHead().dry_prepare(tiny.model(head="TokenClassification"))
