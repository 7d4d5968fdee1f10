"""Removed decoder layers: evenly spaced ones, or those that matter least."""

import pytest
import torch

import tiny
from calibrated import CONTEXT, distance_to
from niwaki.core.errors import InputError
from niwaki.methods.prune.decoder import Decoder
from seq2seq import seq2seq_model


@pytest.fixture
def model():
    return seq2seq_model("bert", decoder_layers=4)


def norms(model):
    return [cross.part("ffn_norm").weight for _, cross in model.anatomy.decoder.layers]


def test_evenly_spaced_layers_stay_with_the_last(model):
    before = norms(model)
    found = Decoder(count=2, choose="spread").prepare(model, CONTEXT)
    assert [next(n for n, one in enumerate(before) if torch.equal(one, norm)) for norm in norms(found)] == [1, 3]
    assert found.network.config.decoder_layers == 2 and found.network.config.num_hidden_layers == 3


def test_layers_without_effect_are_removed_first(model):
    """Layers 1 and 2 add nothing, and their norms change nothing."""
    for own, cross in model.anatomy.decoder.layers:
        for layer, roles in ((own, ["attention_norm"]), (cross, ["attention_norm", "ffn_norm"])):
            for role in roles:
                layer.part(role).weight.data.fill_(1.0)
                layer.part(role).bias.data.zero_()
    for own, cross in model.anatomy.decoder.layers[1:3]:
        for layer, role in ((own, "out"), (cross, "out"), (cross, "ffn_out")):
            layer.part(role).weight.data.zero_()
            layer.part(role).bias.data.zero_()
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    found = Decoder(count=2).prepare(model, distance_to(before))
    assert len(found.anatomy.decoder.layers) == 2
    torch.testing.assert_close(tiny.logits(found, batch), before, atol=1e-4, rtol=0)


def test_a_fraction_leaves_at_least_one_layer(model):
    assert len(Decoder(keep=0.1).dry_prepare(model).anatomy.decoder.layers) == 1


def test_models_without_a_decoder_are_rejected():
    with pytest.raises(
        InputError, match=r"^decoder: this model has no decoder; 'layers' removes layers of an encoder$"
    ):
        Decoder().dry_prepare(tiny.model("bert"))


def test_more_layers_than_there_are_are_rejected(model):
    with pytest.raises(InputError, match=r"^decoder: count is 5 and there are 4; lower it"):
        Decoder(count=5).dry_prepare(model)
