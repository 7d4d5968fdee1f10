"""What is Marian's own; what it shares with all that write is in `tests/models/test_stock.py`."""

import pytest
import torch

import stock
from niwaki.core.errors import InputError
from niwaki.models.anatomy import anatomy_of
from niwaki.models.model import load_folder
from niwaki.models.networks.encoder_decoder import sinusoids
from niwaki.models.skeleton import build, head_of


def config(**changes):
    return {**stock.network("marian").config.to_dict(), "architectures": [stock.CLASSES["marian"]], **changes}


def test_positions_are_waves_that_a_checkpoint_may_leave_out(tmp_path):
    """transformers does not save them; niwaki computes the same for writers of its own."""
    network = load_folder(stock.folder("marian", tmp_path)).network
    for side in (network.model.encoder, network.model.decoder):
        torch.testing.assert_close(side.embed_positions.weight, sinusoids(torch.arange(40), 32), atol=1e-6, rtol=0)
        assert not side.embed_positions.weight.requires_grad


def test_vectors_are_multiplied_by_the_root_of_the_width():
    network = build(config()).eval()
    ids = torch.tensor([[3]])
    wanted = network.model.shared.weight[3] * 32**0.5 + network.model.encoder.embed_positions.weight[0]
    torch.testing.assert_close(anatomy_of(network).inputs.forward({"input_ids": ids})[0, 0], wanted)


def test_its_architecture_has_a_name_of_its_own():
    assert head_of({"architectures": ["MarianMTModel"]}) == "ConditionalGeneration"


def test_two_vocabularies_are_rejected():
    with pytest.raises(InputError, match="one vocabulary to read and another to write"):
        build(config(share_encoder_decoder_embeddings=False))
