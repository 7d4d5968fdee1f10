"""The norm of a layer with bottlenecks is that of the hidden states."""

import tiny


def test_only_the_last_norm_has_the_size_of_hidden_states():
    model = tiny.model("mobilebert", intra_bottleneck_size=16, true_hidden_size=16)
    (layer, *_), anatomy = model.anatomy.layers, model.anatomy
    assert layer.norms == ["output.bottleneck.LayerNorm"]
    assert len(layer.part(layer.norms[0]).weight) == anatomy.hidden_size == 32
    assert len(layer.part("attention_norm").weight) == 16 and layer.head_size == 4
    assert len([*anatomy.matrices()]) == 1 + 3 * (2 + 4 + 2 * 2 + 1)  # bottlenecks, attention, two blocks, output
