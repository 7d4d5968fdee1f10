"""Tokens that get little attention leave."""

import pytest
import torch

import tiny
from converted import check_saved_and_exported, outputs, text_batch
from niwaki.core.errors import InputError
from niwaki.evaluate.footprint import flops
from niwaki.methods.convert.fourier import Fourier
from niwaki.methods.convert.token_dropping import TokenDropping
from niwaki.methods.convert.window import Window
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.forward import forward


@pytest.mark.parametrize("family", ["bert", "distilbert", "albert"])
def test_it_is_saved_loaded_and_exported_for_any_length(family, tmp_path):
    model = TokenDropping(min_tokens=3).dry_prepare(tiny.model(family))
    batch = text_batch(model, 43)
    assert not torch.allclose(outputs(model, batch), outputs(tiny.model(family), batch), atol=1e-3)
    check_saved_and_exported(model, tmp_path)


def test_short_texts_lose_nothing():
    model = TokenDropping(min_tokens=50).dry_prepare(tiny.model("bert"))
    batch = text_batch(model, 43)
    torch.testing.assert_close(outputs(model, batch), outputs(tiny.model("bert"), batch), atol=1e-6, rtol=0)


def test_later_layers_compute_on_fewer_rows():
    model = TokenDropping(keep=0.25, min_tokens=1).dry_prepare(tiny.model("bert"))  # two layers keep half each
    rows = []
    for layer in model.anatomy.layers:
        layer.part("key").register_forward_hook(lambda module, args, output: rows.append(args[0].shape[0]))
    outputs(model, text_batch(model, 40))  # texts of 40 and 20 tokens
    assert rows == [60, 30, 15]
    assert flops(model, 40) < 0.65 * flops(tiny.model("bert"), 40)


def test_packing_and_pruning_combine_with_it(tmp_path):
    model = TokenDropping(min_tokens=3).dry_prepare(tiny.model("bert", layers=4))
    model.apply_edit(Layers(keep=[0, 2]))  # the layer that is the last one now drops nothing
    model.apply_edit(Int8())
    check_saved_and_exported(model, tmp_path, atol=0.2)


def test_activations_of_tokens_are_rejected():
    model = TokenDropping().dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="shortens texts"):
        forward(model.anatomy, tiny.batch(model), frozenset({"hidden"}))


@pytest.mark.parametrize(
    ("family", "head", "reason"),
    [
        ("bert", "TokenClassification", "answers for every token"),
        ("mpnet", "SequenceClassification", "counts the distance"),
        ("roformer", "SequenceClassification", "counts the distance"),
        ("gpt2", "SequenceClassification", "generates text"),
    ],
)
def test_models_that_need_every_token_are_rejected(family, head, reason):
    with pytest.raises(InputError, match=reason):
        TokenDropping().dry_prepare(tiny.model(family, head=head))


def test_layers_without_attention_weights_are_rejected():
    with pytest.raises(InputError, match="mixer 'fourier' of layer 0 shows no attention"):
        TokenDropping().dry_prepare(Fourier(attention_layers=1).dry_prepare(tiny.model("bert")))
    with pytest.raises(InputError, match="chooses tokens by attention"):
        Window(layers=[0]).dry_prepare(TokenDropping().dry_prepare(tiny.model("bert")))
