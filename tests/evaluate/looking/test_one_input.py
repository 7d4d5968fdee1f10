"""Attention equals that of transformers, the last layer's prediction is the model's, and points between inputs are computed alike."""

import copy

import numpy as np
import pytest
import torch

import tiny
from niwaki.evaluate.looking.one_input import OneInput
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.pairs import separate_texts

WITHOUT = (
    "canine",
)  # attends to groups of tokens; transformers needs whole groups (tests/models/families/test_canine.py)


def one_input(model, text="a good film, was very lovely", pair=None) -> OneInput:
    encoding = model.tokenizer.backend_tokenizer.encode(text, pair)
    return OneInput(model, *(np.array(x) for x in (encoding.ids, encoding.type_ids, encoding.special_tokens_mask)))


@pytest.mark.parametrize("family", tiny.WITH_LAYERS)
@torch.no_grad()
def test_attention_and_last_layer_equal_those_of_transformers(family):
    model = tiny.model(family)
    one = one_input(model, pair="the end is dull")
    eager = copy.deepcopy(model.network)
    eager.set_attn_implementation("eager")
    wanted = eager(**one.inputs, output_attentions=True)
    found = one.attention()
    if family in WITHOUT:
        assert found == []
    else:
        assert len(found) == len(wanted.attentions) == 3
        for own, theirs in zip(found, wanted.attentions, strict=True):
            torch.testing.assert_close(own, theirs[0], atol=1e-5, rtol=0)
    logits = one.logits() if family in WITHOUT else wanted.logits[0]
    torch.testing.assert_close(one.layer_logits()[-1], logits, atol=1e-5, rtol=0)
    points = torch.stack([one.vectors(), one.vectors(baseline=True)])
    torch.testing.assert_close(one.at(points)[0], logits, atol=1e-5, rtol=0)
    assert not torch.allclose(*one.at(points), atol=1e-3)


@pytest.mark.parametrize("family", tiny.READERS)
@torch.no_grad()
def test_networks_without_attention_have_gradients_only(family):
    one = one_input(tiny.model(family))
    assert "no layers" in one.no_attention and "no layers" in one.no_layer_logits
    torch.testing.assert_close(one.at(one.vectors()[None])[0], one.logits())


def test_layers_are_read_by_the_head_as_if_they_were_the_last():
    """A model of the first two layers gives what the head makes of layer 2."""
    model = tiny.model("bert")
    short = model.clone()
    short.apply_edit(Layers(keep=[0, 1]))
    torch.testing.assert_close(one_input(model).layer_logits()[2], one_input(short).logits())


@pytest.mark.parametrize("edit", [Int8(), LowBit(base=16, group=16)])
def test_packed_models_are_shown_too(edit):
    model = tiny.model("bert")
    model.apply_edit(edit)
    one = one_input(model)
    torch.testing.assert_close(one.layer_logits()[-1], one.logits())
    assert len(one.attention()) == 3 and one.no_attention == ""


def test_the_encoder_of_a_text_to_text_model_shows_its_attention():
    one = one_input(tiny.model("bert", head="ConditionalGeneration"))
    assert "decoder" in one.no_layer_logits and "decoder" in one.no_gradients
    for weights in one.attention():
        assert weights.shape == (4, len(one.ids), len(one.ids))
        torch.testing.assert_close(weights.sum(-1), torch.ones(4, len(one.ids)))


def test_texts_that_are_encoded_separately_do_not_attend_to_each_other():
    model = tiny.model("bert")
    model.apply_edit(ReplacePart(slot="head", part="pair"))
    separate_texts(model.tokenizer)
    pair, single = one_input(model, "a film", "the end is dull"), one_input(model, "a film")
    first = int((pair.types == 0).sum())
    for weights in pair.attention():
        assert weights[:, :first, first:].abs().max() == 0 == weights[:, first:, :first].abs().max()
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]))
    torch.testing.assert_close(pair.layer_logits()[-1], pair.logits())
    for one in (pair, single):
        torch.testing.assert_close(one.at(one.vectors()[None])[0], one.logits())
        assert len(one.of_tokens(one.vectors().sum(dim=-1))) == len(one.ids)


def test_each_token_gets_its_value():
    one = one_input(tiny.model("bert"))
    values = torch.arange(len(one.ids))[None].float()
    assert one.of_tokens(values) == values[0].tolist()
    assert one.of_tokens(torch.cat([torch.ones(1, 3), values], dim=1)) == values[0].tolist()  # behind a prompt
