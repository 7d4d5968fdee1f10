"""Lists of parts become layers, and tensors keep the names of the lists."""

import torch

import tiny
from niwaki.models.layer_lists import group_layers, listed_names


def test_parts_of_a_layer_are_those_of_the_lists():
    network = tiny.model("xlm", layers=2).network
    trunk, family = network.transformer, tiny.ABOUT["xlm"]
    assert trunk.attentions[1] is trunk.layer[1]["attention"] and trunk.layer_norm2[0] is trunk.layer[0]["ffn_norm"]
    group_layers(network, family)  # once is enough
    assert len(trunk.layer) == 2 and "attentions" not in trunk._modules


def test_names_lead_to_the_lists_again():
    tensors = {"transformer.layer.11.ffn_norm.bias": torch.ones(1), "transformer.embeddings.weight": torch.ones(1)}
    assert [*listed_names(tensors, tiny.ABOUT["xlm"])] == [
        "transformer.layer_norm2.11.bias",
        "transformer.embeddings.weight",
    ]
