"""Attention replaced by linear attention that mimics it."""

import pytest
import torch

import tiny
from converted import check_saved_and_exported, outputs
from niwaki.core.errors import InputError
from niwaki.methods.convert.linear_attention import LinearAttention, fit, mimicry, queries_and_keys
from niwaki.methods.convert.token_dropping import TokenDropping
from niwaki.methods.convert.window import Window
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import forward


@pytest.mark.parametrize("family", ["bert", "mpnet", "albert"])
def test_the_fit_brings_the_features_closer_to_the_softmax(family):
    original = tiny.model(family)
    model = LinearAttention().dry_prepare(original.clone())
    mixers = {number: layer.mixer for number, layer in enumerate(model.anatomy.layers)}
    batches = [tiny.batch(original, 24, seed) for seed in range(2)]
    held_out = tiny.batch(original, 24, 7)
    before = float(mimicry(mixers, original, held_out).detach())
    losses = fit(mixers, original, batches, steps=30, lr=0.03)
    assert len(losses) == 30 and losses[-1] < losses[0]
    assert float(mimicry(mixers, original, held_out).detach()) < 0.9 * before
    assert all(parameter.grad is None for parameter in model.network.parameters())


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_queries_and_keys_are_those_of_the_forward_pass(family):
    model = tiny.model(family)
    batch = tiny.batch(model)
    outputs = forward(model.anatomy, batch, frozenset({"queries", "keys"}))
    found = queries_and_keys(model, [0], batch)[0]
    assert len(found) == (3 if family == "albert" else 1)
    assert torch.equal(found[0][0], outputs.queries[0]) and torch.equal(found[-1][1], outputs.keys[len(found) - 1])


def test_other_layers_may_have_other_mixers():
    original = Window(window=2, layers=[0]).dry_prepare(tiny.model("bert"))
    model = LinearAttention(layers=[2]).dry_prepare(original.clone())
    assert mimicry({2: model.anatomy.layers[2].mixer}, original, tiny.batch(original)).isfinite()
    with pytest.raises(InputError, match="before that"):
        LinearAttention().dry_prepare(TokenDropping().dry_prepare(tiny.model("bert")))


def test_relative_positions_are_part_of_what_is_mimicked():
    original = tiny.model("mpnet")
    mixers = {0: LinearAttention().dry_prepare(original.clone()).anatomy.layers[0].mixer}
    batch = tiny.batch(original)
    before = mimicry(mixers, original, batch)
    with torch.no_grad():
        original.anatomy.trunk.encoder.relative_attention_bias.weight.zero_()
    assert not torch.isclose(mimicry(mixers, original, batch), before)


@pytest.mark.parametrize("features", [0, 3])
def test_it_is_quantized_saved_loaded_and_exported(features, tmp_path):
    model = LinearAttention(layers=[0, 2], features=features).dry_prepare(tiny.model("bert"))
    assert [layer.mixer.label() for layer in model.anatomy.layers] == [
        "linear_attention",
        "attention",
        "linear_attention",
    ]
    check_saved_and_exported(model, tmp_path / "float")
    model.apply_edit(Int8())
    check_saved_and_exported(model, tmp_path / "int8", atol=0.1)
    assert torch.isfinite(outputs(model, tiny.batch(model))).all()


def test_causal_and_converted_models_are_rejected():
    with pytest.raises(InputError, match="take 'window'"):
        LinearAttention().dry_prepare(tiny.model("gpt2"))
    with pytest.raises(InputError, match="only plain attention is converted"):
        LinearAttention().dry_prepare(Window().dry_prepare(tiny.model("bert")))
