"""Round to nearest."""

import pytest
import torch

import tiny
from niwaki.methods.quantize.rtn import Rtn
from niwaki.models.packed.store import StoredTable


@pytest.mark.parametrize("bits, levels", [(4, 16), (3, 7), (2, 4)])
@pytest.mark.parametrize("embeddings", [True, False])
def test_matrices_and_table_are_packed(bits, levels, embeddings):
    model = Rtn(bits=bits, group=16, embeddings=embeddings).finish(tiny.model("electra"))
    for path in model.anatomy.matrices():
        store = model.network.get_submodule(path).store
        assert (store.base, store.group) == (levels, 16)
        assert all(len(part.unique()) <= levels for part in store().split(16, dim=1)[0][:4])
    assert isinstance(model.anatomy.tokens, StoredTable) == embeddings
    assert isinstance(model.network.classifier.out_proj, torch.nn.Linear)
