"""8-bit weights."""

import pytest
import torch

import tiny
from niwaki.methods.quantize.int8 import Int8
from niwaki.methods.quantize.int8 import Int8 as Int8Method
from niwaki.models.embedding_tables import small_weights
from niwaki.models.model import load_folder
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear


@pytest.mark.parametrize("family", ["bert", "electra", "mpnet", "albert", "distilbert", "roberta"])
def test_small_tables_and_the_inner_matrix_of_the_head_are_packed(family, tmp_path):
    model = tiny.model(family)
    batch, before = tiny.batch(model), tiny.logits(model, tiny.batch(model))
    model = Int8Method().finish(model)
    packed = [type(model.network.get_submodule(path)) for path in small_weights(model.anatomy)]
    assert packed and set(packed) <= {Int8Linear, Int8Embedding}
    model.save(tmp_path)
    after = tiny.logits(model, batch)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), after)
    torch.testing.assert_close(after, before, atol=0.1, rtol=0)


@pytest.mark.parametrize("embeddings", [True, False])
def test_matrices_and_table_are_packed(embeddings):
    model = Int8(embeddings=embeddings).finish(tiny.model("electra"))
    assert all(isinstance(model.network.get_submodule(path), Int8Linear) for path in model.anatomy.matrices())
    assert isinstance(model.anatomy.tokens, Int8Embedding) == embeddings
    assert isinstance(model.network.classifier.out_proj, torch.nn.Linear)
