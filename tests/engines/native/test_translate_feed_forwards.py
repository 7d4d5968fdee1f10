"""What programs say of feed-forward blocks, and which are rejected."""

import numpy as np
import pytest
import torch
from torch import nn

import tiny
from engines.native.test_translate import program
from niwaki.core.errors import InputError
from niwaki.engines.native.library import best
from niwaki.engines.native.network import Network
from niwaki.engines.native.translate import translate
from niwaki.engines.native.translate_feed_forwards import activation_of
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import run_padded
from niwaki.models.ties import unique_tensors


def with_experts(**settings):
    return ReplacePart(slot="feed_forward", part="experts", layers=[0, 2], settings={"neurons": 50, **settings})


def test_the_shape_of_experts():
    _, found = program("bert", with_experts(experts=4, active=2, shared=6, weights="mean"))
    experts = found.layers[0].experts
    assert len(experts.experts) == 4 and experts.active == 2 and experts.averages and found.layers[0].ffn is None
    assert experts.shared.up[0].bias.endswith("feed_forward.first.4.bias") and found.layers[1].experts is None


@pytest.mark.skipif(best() is None, reason="the native engine was not built, or this processor lacks AVX2")
@pytest.mark.parametrize("weights", ["sum", "mean"])
@pytest.mark.parametrize("int8", [False, True], ids=["floats", "int8"])
def test_experts_compute_what_torch_does(weights, int8):
    model = tiny.model("bert")
    model.apply_edit(with_experts(experts=5, active=2, shared=7, weights=weights))
    if int8:
        model.apply_edit(Int8())
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    network = Network(translate(model.network, model.anatomy), tensors, "here")
    draw = np.random.default_rng(3)
    for length in (1, 29, 60):
        ids = draw.integers(5, 90, length)
        given = torch.from_numpy(ids)[None]
        with torch.no_grad():
            wanted = run_padded(model.anatomy, {"input_ids": given, "attention_mask": torch.ones_like(given)}).numpy()
        found = network(ids, ids * 0, np.array([length]))
        np.testing.assert_allclose(found, wanted, atol=0.1 * np.abs(wanted).max() if int8 else 1e-5)


def test_experts_that_a_text_chooses_are_rejected():
    with pytest.raises(InputError, match="experts that the first token chooses for its text have no translation"):
        program("bert", with_experts(route="text"))


def test_activations_are_named_as_the_kernels_name_them():
    assert activation_of(nn.ReLU()) == "relu" and activation_of(nn.Tanh()) == "tanh"
    with pytest.raises(InputError, match=r"^native engine: it does not have the activation Softplus$"):
        activation_of(nn.Softplus())
