"""Prompt tuning as a method."""

import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.adapt.prompt_tuning import PromptTuning
from niwaki.models.edits.int8 import Int8


def test_vectors_begin_as_those_of_tokens_also_of_a_packed_table():
    for pack in (False, True):
        model = tiny.model("bert")
        if pack:
            model.apply_edit(Int8())
        model = PromptTuning(tokens=5).prepare(model, CONTEXT)
        table = model.anatomy.tokens
        every = table.base(torch.arange(table.num_embeddings))
        assert all((every == vector).all(dim=1).any() for vector in table.delta.vectors)


def test_texts_get_shorter_by_the_prompt():
    model = PromptTuning(tokens=5).dry_prepare(tiny.model("bert"))
    assert model.anatomy.max_tokens == tiny.model("bert").anatomy.max_tokens - 5
