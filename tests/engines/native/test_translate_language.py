"""Programs of causal language models: what they name, and which networks are rejected."""

import pytest

import tiny
from engines.native.test_translate import names_in
from niwaki.engines.native.translate import translate
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.int8 import Int8
from niwaki.models.ties import unique_tensors


def program(family, *edits, **more):
    model = tiny.model(family, head="MaskedLM", **more)
    for edit in edits:
        model.apply_edit(edit)
    return model, translate(model.network, model.anatomy).language_model


@pytest.mark.parametrize("edits", [(), (Int8(),)], ids=["floats", "int8"])
@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_every_tensor_is_named_once_stored(family, edits):
    model, found = program(family, *edits)
    stored = set(unique_tensors(model.network))
    assert names_in(found.model_dump()) == {name for name in stored if "rotary" not in name}


def test_llama_has_norms_that_only_scale_rotary_positions_gates_and_shared_keys():
    _, found = program("llama")
    layer = found.layers[0]
    assert found.pre_norm and found.last.shift is None and found.positions is None and layer.cross is None
    assert layer.ffn.gate is not None and layer.ffn.activation == "silu"
    assert 2 * len(layer.own.attention.rotary.frequencies) == layer.own.attention.head_size
    assert layer.own.attention.rotary.frequencies[0] == 1.0
    assert layer.own.attention.key_heads is not None


def test_gpt2_has_learned_positions_and_no_gate():
    _, found = program("gpt2")
    assert found.positions is not None and found.layers[0].ffn.gate is None and found.last.shift is not None


def test_removed_blocks_leave_a_bias():
    _, found = program("gpt2", Blocks(attention=[1], ffn=[2]))
    assert found.layers[1].own.attention is None and found.layers[1].own.bias is not None
    assert found.layers[2].ffn is None and found.layers[2].ffn_bias is not None
