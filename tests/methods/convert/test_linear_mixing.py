"""Attention replaced by learned linear mixing."""

import pytest

import tiny
from converted import check_saved_and_exported
from niwaki.core.errors import InputError
from niwaki.methods.convert.linear_mixing import LinearMixing
from niwaki.models.edits.hidden_size import HiddenSize


def test_the_last_layers_keep_their_attention_and_texts_get_a_maximum_length(tmp_path):
    model = LinearMixing(attention_layers=1, tokens=50).dry_prepare(tiny.model("bert"))
    assert [layer.mixer.label() for layer in model.anatomy.layers] == ["linear_mixing", "linear_mixing", "attention"]
    assert model.anatomy.max_tokens == 50
    check_saved_and_exported(model, tmp_path)


def test_hidden_states_are_cut_with_the_matrix(tmp_path):
    model = LinearMixing(attention_layers=1).dry_prepare(tiny.model("bert"))
    model.apply_edit(HiddenSize(keep=[*range(0, 32, 2)]))
    assert model.anatomy.layers[0].mixer.hidden.weight.shape == (16, 16)
    check_saved_and_exported(model, tmp_path)


def test_models_that_it_does_not_fit_are_rejected():
    with pytest.raises(InputError, match="none is left to convert"):
        LinearMixing(attention_layers=3).dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="take 'window'"):
        LinearMixing().dry_prepare(tiny.model("gpt2"))
