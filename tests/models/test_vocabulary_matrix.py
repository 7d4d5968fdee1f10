"""The matrix of a language model: products by hand, one table for two uses, and heads that keep numbers of their own."""

import pytest
import torch
from torch import nn

import tiny
from niwaki.models.skeleton import MASKED_LM
from niwaki.models.vocabulary_matrix import VocabularyMatrix

TABLE = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
BIAS = torch.tensor([0.5, 0.0, -1.0])


def matrix(holder_has_bias):
    owner, holder = nn.Module(), nn.Module()
    owner.table = nn.Embedding.from_pretrained(TABLE.clone(), freeze=False)
    own = nn.Parameter(torch.zeros(3) if holder_has_bias else BIAS.clone())
    holder.register_parameter("bias", nn.Parameter(BIAS.clone()) if holder_has_bias else None)
    return owner, holder, VocabularyMatrix(owner, "table", holder, own)


@pytest.mark.parametrize("holder_has_bias", [False, True])
def test_logits_are_products_with_the_table_plus_the_bias(holder_has_bias):
    owner, holder, tied = matrix(holder_has_bias)
    hidden = torch.tensor([[2.0, 1.0]])
    assert tied(hidden).tolist() == [[4.5, -1.0, 5.5]]
    owner.table.weight.data[0] = 0.0
    (holder if holder_has_bias else tied).bias.data[1] = 9.0
    assert tied(hidden).tolist() == [[0.5, 8.0, 5.5]]


def test_parameters_are_listed_once():
    for holder_has_bias, names in ((False, ["bias"]), (True, [])):
        assert [name for name, _ in matrix(holder_has_bias)[2].named_parameters()] == names


@pytest.mark.parametrize("family", tiny.SHARING)
def test_only_a_head_that_shares_the_table_is_tied(family):
    for shared in (True, False):
        model = tiny.model(family, layers=1, head=MASKED_LM, labels=[], tie_word_embeddings=shared)
        found = model.network.get_submodule(model.anatomy.family.head.vocabulary.table)
        assert isinstance(found, VocabularyMatrix) == shared
        assert (found.table is model.anatomy.tokens) if shared else found.weight is not model.anatomy.tokens.weight


def test_heads_for_labels_have_no_such_matrix():
    modules = tiny.model("bert", layers=1).network.modules()
    assert not any(isinstance(module, VocabularyMatrix) for module in modules)
