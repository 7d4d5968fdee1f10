"""Which weights become 8-bit integers. Every family is tested in tests/models/test_edits.py."""

import pytest
import torch

import tiny
from niwaki.models.edits.int8 import Int8
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear

SMALL = {"bert.embeddings.position_embeddings", "bert.embeddings.token_type_embeddings", "bert.pooler.dense"}


def packed(**settings: bool) -> set[str]:
    model = tiny.model("bert")
    model.apply_edit(Int8(**settings))
    modules = model.network.named_modules()
    return {name for name, module in modules if isinstance(module, Int8Linear | Int8Embedding)}


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({}, {"bert.embeddings.word_embeddings"}),
        ({"embeddings": False}, set()),
        ({"small_weights": True}, {"bert.embeddings.word_embeddings", *SMALL}),
    ],
)
def test_matrices_are_packed_and_tables_as_the_settings_say(settings, more):
    assert packed(**settings) == {*tiny.model("bert").anatomy.matrices(), *more}


def test_each_row_is_rounded_to_a_127th_of_its_largest_number():
    model = tiny.model("bert")
    weight = model.anatomy.layers[0].part("query").weight.detach().clone()
    model.apply_edit(Int8())
    module = model.anatomy.layers[0].part("query")
    step = weight.abs().amax(dim=1) / 127
    torch.testing.assert_close(module.scale, step)
    assert torch.equal(module.weight.T.float(), torch.round(weight / step[:, None]))


def test_a_second_time_changes_nothing():
    model = tiny.model("bert")
    model.apply_edit(Int8())
    before = tiny.logits(model, tiny.batch(model))
    model.apply_edit(Int8())
    assert torch.equal(tiny.logits(model, tiny.batch(model)), before)
