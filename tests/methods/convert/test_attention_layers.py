"""The layers whose attention is converted."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.convert._attention_layers import attention_layers, dense
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.int8 import Int8


def test_layers_are_found_by_number_or_count():
    model = tiny.model("bert")
    assert [*attention_layers(model, [2, 0], "x")] == [2, 0] and [*attention_layers(model, 2, "x")] == [0, 1]


def test_a_layer_whose_attention_was_removed_is_rejected():
    model = tiny.model("bert")
    model.apply_edit(Blocks(attention=[1], ffn=[]))
    with pytest.raises(InputError, match="x: layer 1 has no attention"):
        attention_layers(model, 3, "x")


def test_packed_matrices_become_floats():
    model = tiny.model("bert")
    before = model.anatomy.layers[0].part("query")
    assert dense(before) is before
    model.apply_edit(Int8())
    after = dense(model.anatomy.layers[0].part("query"))
    torch.testing.assert_close(after.weight, before.weight, atol=0.02, rtol=0)
