"""Prompts in front of texts: ids, masks and activations. Models with a prompt are tested in edits/test_prompt.py."""

import pytest
import torch
from torch import nn

import tiny
from niwaki.models.edits.prompt import Prompt as PromptEdit
from niwaki.models.prompt import Prompt, PromptedTable, in_front, with_prompt, without_prompt
from niwaki.models.record import HIDDEN, SCORES


@pytest.fixture
def table():
    base = nn.Embedding.from_pretrained(torch.arange(6.0).view(3, 2))
    return PromptedTable(base, Prompt(torch.tensor([[10.0, 11.0], [12.0, 13.0]])))


def test_ids_behind_the_vocabulary_are_those_of_the_prompt(table):
    assert (table.num_embeddings, table.embedding_dim, table.prompt_tokens) == (3, 2, 2)
    assert table(torch.tensor([[3, 4, 0, 2]])).tolist() == [[[10, 11], [12, 13], [0, 1], [4, 5]]]


def test_gradients_reach_the_prompt(table):
    table(torch.tensor([[3, 0]])).sum().backward()
    assert table.delta.vectors.grad.tolist() == [[1, 1], [0, 0]]


def test_another_table_keeps_the_prompt(table):
    again = table.repack(nn.Embedding(7, 2))
    assert again.num_embeddings == 7 and again.delta is table.delta
    assert table.delta.cut(None) is table.delta and table.delta.cut([1]).vectors.tolist() == [[11], [13]]


def test_the_ids_of_the_prompt_come_first():
    model = tiny.model("bert", layers=1)
    inputs = tiny.batch(model).inputs
    assert with_prompt(model.anatomy, inputs) is inputs
    model.apply_edit(PromptEdit(tokens=2))
    found, size = with_prompt(model.anatomy, inputs), model.anatomy.tokens.num_embeddings
    assert (found["input_ids"][:, :2] == torch.tensor([size, size + 1])).all()
    assert torch.equal(found["input_ids"][:, 2:], inputs["input_ids"])
    assert (found["attention_mask"][:, :2] == 1).all() and not found["token_type_ids"][:, :2].any()


def test_masks_are_longer_by_the_prompt():
    mask = torch.tensor([[True, False]])
    assert in_front(mask, 2, False).tolist() == [[False, False, True, False]]
    assert in_front(mask, 0, True) is mask and in_front(None, 2, True) is None
    visible = in_front(torch.zeros(1, 2, 2, dtype=torch.bool), 1, True)
    assert visible.tolist() == [[[True, True, True], [True, False, False], [True, False, False]]]


@pytest.mark.parametrize("per_token", [True, False])
def test_outputs_are_those_of_the_texts(per_token):
    logits = torch.arange(8.0).view(1, 4, 2)
    record = {HIDDEN: [torch.arange(4.0).view(1, 4, 1)], SCORES: [torch.arange(16.0).view(1, 1, 4, 4)]}
    found = without_prompt(2, logits, record, per_token)
    assert found.shape == (1, 2 if per_token else 4, 2)
    assert record[HIDDEN][0].flatten().tolist() == [2, 3] and record[SCORES][0].flatten().tolist() == [10, 11, 14, 15]
    assert without_prompt(0, logits, record, True) is logits
