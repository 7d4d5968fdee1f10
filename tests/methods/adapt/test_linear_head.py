"""The linear head: logistic regression as scikit-learn fits it, on embeddings as the checkpoint pools them."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.adapt.linear_head import UNSEEN, LinearHead, embedded, logistic_regression
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(30, 5))


@pytest.mark.parametrize("labels", [2, 4])
def test_logits_are_those_of_scikit_learn(labels):
    gold = np.arange(30) % labels
    weight, bias = logistic_regression(VECTORS, gold, labels, 10.0)
    theirs = LogisticRegression(C=10.0, max_iter=1000).fit(VECTORS, gold)
    logits = VECTORS @ weight.T + bias
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, theirs.predict_proba(VECTORS), atol=1e-5)


def test_a_label_without_rows_is_never_predicted():
    weight, bias = logistic_regression(VECTORS, np.arange(30) % 2 * 2, 3, 1.0)
    assert set((VECTORS @ weight.T + bias).argmax(axis=1)) == {0, 2} and bias[1] == UNSEEN
    weight, bias = logistic_regression(VECTORS, np.full(30, 1), 3, 1.0)
    assert set((VECTORS @ weight.T + bias).argmax(axis=1)) == {1}


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
