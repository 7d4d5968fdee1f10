"""Sizes in configs, kept true when networks are cut."""

import pytest

import tiny
from niwaki.models.edits.heads import Heads
from niwaki.models.sizes import config_sizes, constants, decoder_depth, keep_layers, update_ffn_size, update_heads
from seq2seq import seq2seq_model


def test_sizes_are_written_under_the_keys_of_the_family():
    assert config_sizes(tiny.model("bert").anatomy, 5, 16, 2, 24) == {
        "num_hidden_layers": 5,
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 24,
    }
    assert config_sizes(tiny.model("distilbert").anatomy, 5, 16, 2, 24) == {
        "n_layers": 5,
        "dim": 16,
        "n_heads": 2,
        "hidden_dim": 24,
    }


def test_a_decoder_keeps_its_depth():
    sizes = config_sizes(seq2seq_model("bert").anatomy, 5, 16, 2, 24)
    assert sizes["decoder_heads"] == 2 and sizes["decoder_ffn_size"] == 24 and "decoder_layers" not in sizes


@pytest.mark.parametrize(("heads", "key_heads"), [(4, 2), (2, 1), (3, 3), (6, 3)])
def test_heads_that_share_keys_do_so_where_they_can_be_divided(heads, key_heads):
    """The tiny Llama has two query heads for each key head."""
    sizes = config_sizes(tiny.model("llama").anatomy, 3, 24, heads, 24)
    assert sizes["num_key_value_heads"] == key_heads and sizes["head_dim"] == 24 // heads


def test_kinds_of_layers_repeat():
    """ModernBERT alternates layers with and without a window."""
    anatomy = tiny.model("modernbert", layers=2).anatomy
    kinds = anatomy.network.config.layer_types
    assert config_sizes(anatomy, 5, 16, 2, 24)["layer_types"] == [*kinds, *kinds, kinds[0]]


def test_equal_numbers_of_neurons_are_written_and_unequal_ones_not():
    model = tiny.model("bert", layers=2)
    for number, block in enumerate(model.anatomy.blocks):
        block.keep([0, 1, 2])
        update_ffn_size(model.anatomy)
        assert model.network.config.intermediate_size == (64 if number == 0 else 3)


def test_fewer_heads_are_no_config_unless_their_size_follows():
    """Two heads of 8 in a hidden size of 32 would be read as heads of 16."""
    model = tiny.model("bert", layers=1)
    model.apply_edit(Heads(keep=[2]))
    assert model.network.config.num_attention_heads == 4
    small = tiny.model("bert", layers=1)
    layer = small.anatomy.layers[0]
    layer.part("attention_module").attention_head_size = 16
    update_heads(small.anatomy)
    assert small.network.config.num_attention_heads == 2


def test_layers_stay_in_the_given_order():
    model = tiny.model("bert")
    modules = [layer.module for layer in model.anatomy.layers]
    keep_layers(model.anatomy, [2, 0])
    assert [layer.module for layer in model.anatomy.layers] == [modules[2], modules[0]]


def test_a_table_of_relative_positions_moves_with_the_first_layer():
    model = tiny.model("mpnet")
    keep_layers(model.anatomy, [1])
    assert model.anatomy.family.relative is not None
    assert tiny.logits(model, tiny.batch(model)).isfinite().all()


def test_only_a_decoder_has_a_decoder_depth():
    assert decoder_depth(tiny.model("bert").anatomy) == 0
    assert decoder_depth(seq2seq_model("bert", decoder_layers=3).anatomy) == 3


def test_constants_tell_configs_with_equal_tensors_apart():
    wide, narrow = (tiny.model("modernbert", local_attention=size) for size in (8, 4))
    assert constants(wide.anatomy) == constants(tiny.model("modernbert").anatomy)
    assert constants(wide.anatomy) != constants(narrow.anatomy)
