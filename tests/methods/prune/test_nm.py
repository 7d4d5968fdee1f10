"""n:m sparsity."""

import pytest
import torch

import tiny
from niwaki.methods.prune.nm import Nm, largest_of
from niwaki.models.model import load_folder

from .sparsity import CONTEXT, of_all_forms, sparsity, weights


def test_the_n_largest_of_every_m():
    row = torch.tensor([[1.0, 4.0, 3.0, 2.0, 5.0, 5.0, 5.0, 0.0, 1.0, 2.0]])
    assert largest_of(row, 2, 4).int().tolist() == [[0, 1, 1, 0, 1, 1, 0, 0, 1, 1]]  # the last two are alone
    assert largest_of(row, 1, 5).int().tolist() == [[0, 0, 0, 0, 1, 1, 0, 0, 0, 0]]


@pytest.mark.parametrize("family", tiny.READERS)
def test_networks_without_attention_are_pruned(family, tmp_path):
    method = Nm()
    model = method.finish(method.prepare(tiny.model(family), CONTEXT))
    assert sparsity(model) == pytest.approx(0.5, abs=0.02)
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), tiny.batch(model)), tiny.logits(model, tiny.batch(model)))


def test_packed_and_sparse_matrices_are_pruned():
    for form, model in of_all_forms().items():
        method = Nm(n=1, m=4)
        model = method.finish(method.prepare(model, CONTEXT))
        groups = torch.cat([(weight != 0).unflatten(1, (-1, 4)).sum(-1).flatten() for weight in weights(model)])
        assert groups.max() == 1 and (form == "digits" or groups.float().mean() > 0.95), form
