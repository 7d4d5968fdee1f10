"""Activation functions by name."""

import torch
from torch import nn
from transformers.activations import ACT2FN

from niwaki.models.activation_functions import MODULES, activation_name


def test_classes_and_functions_of_families_have_the_names_of_what_they_compute():
    x = torch.linspace(-3, 3, 50)
    for found, name in {
        ACT2FN["gelu"]: "gelu",
        ACT2FN["gelu_new"]: "gelu_tanh",
        nn.GELU(approximate="tanh"): "gelu_tanh",
        ACT2FN["relu"]: "relu",
        ACT2FN["silu"]: "silu",
        torch.tanh: "tanh",
    }.items():
        assert activation_name(found) == name
        torch.testing.assert_close(MODULES[name](x), found(x), atol=1e-3, rtol=0)


def test_an_unknown_function_has_no_name():
    assert activation_name(nn.Softplus()) is None
