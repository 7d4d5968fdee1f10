"""Attention replaced by linear attention that mimics it."""

import pytest
import torch

import tiny
from converted import check_saved_and_exported, outputs
from niwaki.core.errors import InputError
from niwaki.methods.convert.linear_attention import LinearAttention, fit, mimicry
from niwaki.methods.convert.window import Window
from niwaki.models.edits.int8 import Int8


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
