"""Programs of encoders: which tensors they name, and which networks are rejected with what to use instead."""

import pytest
from torch import nn

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.native import translate_feed_forwards, translate_inputs, translate_mixers
from niwaki.engines.native.translate import HEADS as NATIVE_HEADS
from niwaki.engines.native.translate import translate
from niwaki.engines.native.translate_decoder import DECODERS as NATIVE_DECODERS
from niwaki.models.anatomy import DECODERS
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.narrow import Narrow
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.edits.share import Share
from niwaki.models.parts.decoders._decoder import Decoder
from niwaki.models.parts.feed_forwards._feed_forward import FEED_FORWARDS, FeedForward
from niwaki.models.parts.heads._head import HEADS, TaskHead
from niwaki.models.parts.inputs._inputs import INPUTS, Inputs
from niwaki.models.parts.mixers._mixer import MIXERS, Mixer
from niwaki.models.parts.reductions._reduction import REDUCTIONS, Reduction
from niwaki.models.ties import unique_tensors
from seq2seq import seq2seq_model


def program(family: str = "bert", *edits, **more):
    model = tiny.model(family, **more)
    for edit in edits:
        model.apply_edit(edit)
    return model, translate(model.network, model.anatomy)


def names_in(value) -> set[str]:
    """All texts of a program that name tensors."""
    if isinstance(value, dict):
        return {name for inner in value.values() for name in names_in(inner)}
    if isinstance(value, list):
        return {name for inner in value for name in names_in(inner)}
    return {value} if isinstance(value, str) and "." in value else set()


@pytest.mark.parametrize("family", tiny.NATIVE)
@pytest.mark.parametrize("edits", [(), (Int8(),)], ids=["floats", "int8"])
def test_every_tensor_that_is_read_is_named_once_stored(family, edits):
    model, found = program(family, *edits)
    stored = set(unique_tensors(model.network))
    named = names_in(found.model_dump())
    assert named <= stored
    unread = {name for name in stored - named if "relative_attention_bias" not in name}
    assert not {name for name in unread if ".layer" in name and "rotary" not in name}, unread


def test_the_shape_of_a_layer():
    _, found = program("bert", Heads(keep=[3, 1, 2]))
    assert [(layer.attention.heads, layer.attention.head_size) for layer in found.layers] == [(3, 8), (1, 8), (2, 8)]
    assert found.order == [0, 1, 2] and found.layers[0].ffn.activation == "gelu"
    assert found.layers[1].attended.epsilon == pytest.approx(1e-12) and found.pooling == "cls"
    assert found.head_activation == "tanh" and len(found.head) == 2 and not found.per_token


def test_a_layer_that_is_run_often_is_stored_once():
    _, found = program("albert")
    assert len(found.layers) == 1 and found.order == [0, 0, 0] and found.project is not None


def test_shared_matrices_have_the_same_name():
    _, found = program("bert", Share(of=[0, 0, 2]))
    first, second, third = (layer.ffn.up[0].weight.weight for layer in found.layers)
    assert first == second != third


def test_removed_blocks_leave_a_bias():
    _, found = program("bert", Blocks(attention=[1], ffn=[2]))
    assert found.layers[1].attention is None and found.layers[1].attention_bias.endswith("output.dense.bias")
    assert found.layers[2].ffn is None and found.layers[2].ffn_bias is not None


def test_packed_and_factorized_matrices_keep_their_storage():
    _, found = program("bert", Narrow(width=6), LowBit(base=16, group=16))
    kinds = {type(layer.ffn.up[0].weight).__name__ for layer in found.layers}
    assert kinds == {"LowBit"} and found.widen is not None
    _, packed = program("bert", Int8())
    assert packed.layers[0].attention.query[0].weight.transposed and not packed.tokens.transposed


def shortened(part):
    model = tiny.model("bert")
    model.apply_edit(ReplacePart(slot="reduction", part=part, layers=[0]))
    return model


def test_classifiers_of_causal_networks_read_the_last_token():
    _, found = program("llama")
    assert found.causal and found.pooling == "last" and found.layers[0].attention.key_heads is not None


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: seq2seq_model("prefix bert"), "decoder 'prefix' has no translation .*; use engine 'onnx'"),
        (lambda: tiny.model("bilstm"), "runs encoders with attention, which 'bilstm' does not have"),
        (lambda: tiny.model("deberta_v2"), "mixer 'disentangled' has no translation .*distances"),
        (lambda: shortened("token_pairs"), "layers that shorten texts have no translation"),
    ],
)
def test_networks_without_a_translation_are_rejected(build, message):
    model = build()
    with pytest.raises(InputError, match=message):
        translate(model.network, model.anatomy)


def test_programs_of_encoders_have_no_keys_that_older_versions_reject():
    _, found = program("bert")
    written = set(found.model_dump(mode="json", exclude_none=True))
    assert not written & {"token_scale", "skipped_positions", "decoder"} and "embedded" in written


def test_unknown_modules_are_named_by_their_path():
    model = tiny.model("bert", layers=1)

    class Odd(nn.Linear):
        pass

    class Strange(nn.Module):
        in_features = out_features = 32

    model.anatomy.layers[0].replace("key", Odd(32, 32))
    assert translate(model.network, model.anatomy)  # still a linear layer
    model.anatomy.layers[0].replace("key", Strange())
    with pytest.raises(InputError, match=r"native engine: .*attention.self.key"):
        translate(model.network, model.anatomy)


CATALOGUES = {
    "inputs": (INPUTS, Inputs, translate_inputs.INPUTS),
    "mixers": (MIXERS, Mixer, translate_mixers.MIXERS),
    "feed_forwards": (FEED_FORWARDS, FeedForward, translate_feed_forwards.FEED_FORWARDS),
    "reductions": (REDUCTIONS, Reduction, ()),
    "heads": (HEADS, TaskHead, NATIVE_HEADS),
    "decoders": (DECODERS, Decoder, NATIVE_DECODERS),
}


@pytest.mark.parametrize("kind", CATALOGUES)
def test_every_part_has_a_translation_or_a_reason(kind):
    """A new part says which of both: its `native` is known to the translator, or `no_native` states why there is none."""
    catalogue, base, known = CATALOGUES[kind]
    for name in catalogue.names():
        part = catalogue.load(name, base)
        assert (part.native in known) != bool(part.no_native), name
        assert (part.native is None) == bool(part.no_native), name
