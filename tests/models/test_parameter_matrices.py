"""Parameters of three dimensions become matrices and are saved as they were."""

import torch
from transformers import XLNetConfig, XLNetModel

import tiny
from niwaki.models.parameter_matrices import parameter_names


def test_matrices_give_the_products_of_the_parameters():
    torch.manual_seed(0)
    network = tiny.model("xlnet", layers=1).network
    module = network.transformer.layer[0].rel_attn
    rows = torch.randn(5, 32)
    torch.testing.assert_close(module.query(rows), torch.einsum("ih,hnd->ind", rows, module.q).flatten(1))
    torch.testing.assert_close(module.out(rows), torch.einsum("ind,hnd->ih", rows.unflatten(1, (4, 8)), module.o))


def test_names_and_shapes_are_those_of_transformers():
    network = tiny.model("xlnet", layers=1).network
    found = parameter_names(network, network.state_dict(), tiny.ABOUT["xlnet"])
    config = XLNetConfig(vocab_size=105, d_model=32, n_head=4, d_inner=64, n_layer=1)
    wanted = {f"transformer.{name}": value.shape for name, value in XLNetModel(config).state_dict().items()}
    assert {name: found[name].shape for name in wanted} == wanted
    assert torch.equal(found["transformer.layer.0.rel_attn.o"], network.transformer.layer[0].rel_attn.o)
