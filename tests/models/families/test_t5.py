"""What is T5's own; what it shares with all that write is in `tests/models/test_stock.py`."""

import pytest
import torch

import stock
from niwaki.core.errors import InputError
from niwaki.models.anatomy import anatomy_of
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.layers import Layers
from niwaki.models.forward import position_bias
from niwaki.models.model import Model
from niwaki.models.skeleton import build


def config(**changes):
    return {**stock.network("t5").config.to_dict(), "architectures": [stock.CLASSES["t5"]], **changes}


@pytest.fixture
def network():
    torch.manual_seed(0)
    return build(config()).eval()


@torch.no_grad()
def test_distances_are_looked_up_as_transformers_does(network):
    """Both sides: of what is read in both directions, of what is written only back."""
    anatomy = anatomy_of(network)
    own = network.encoder.block[0].layer[0].SelfAttention
    assert torch.equal(position_bias(anatomy, torch.zeros(1, 30, 32)), own.compute_bias(30, 30))
    own = network.decoder.block[0].layer[0].SelfAttention
    wanted = own.compute_bias(30, 30)
    for place in (0, 5, 29):
        found = anatomy.decoder.position_bias(torch.tensor([place]), place + 1)
        assert torch.equal(found[0, :, 0], wanted[0, :, place, : place + 1])


def test_the_bias_outlives_the_layer_it_lay_in(network):
    model = Model(network, None)
    table = network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias
    model.apply_edit(Layers(keep=[1]))
    assert network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias is table
    assert not model.blueprint.edits  # a stock T5 of one layer has it there


def test_a_narrower_one_is_not_stock(network):
    """Its scores are multiplied by the root of the width it had, which the config of a stock one does not tell."""
    model = Model(network, None)
    model.apply_edit(HiddenSize(keep=16))
    assert model.blueprint.edits and network.model_dim == 32 and network.config.d_model == 16


@pytest.mark.parametrize(
    "changes, fault",
    [
        ({"feed_forward_proj": "gated-gelu"}, "gated feed-forward blocks .* is not supported"),
        ({"tie_word_embeddings": False}, "whose output has numbers of its own"),
        ({"d_kv": 0}, "'d_kv' is 0"),
    ],
)
def test_unsupported_settings_are_rejected_in_one_line(changes, fault):
    with pytest.raises(InputError, match=fault):
        build(config(**changes))
