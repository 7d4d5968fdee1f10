"""Learning rates that fall from layer to layer."""

import pytest

import stock
import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.layerwise_lr import LayerwiseLr
from niwaki.models.model import Model


def test_the_rate_halves_from_the_head_down_to_the_embeddings():
    scales = LayerwiseLr(decay=0.5).lr_scales(tiny.model("bert", layers=3))
    where = {".embeddings.": 0.0625, ".layer.0.": 0.125, ".layer.1.": 0.25, ".layer.2.": 0.5}
    for part, factor in where.items():
        assert {value for name, value in scales.items() if part in name} == {factor}
    assert all(any(part in name for part in where) for name in scales)  # pooler and classifier keep the rate


def test_position_tables_of_mpnet_learn_as_slowly_as_its_embeddings():
    scales = LayerwiseLr(decay=0.5).lr_scales(tiny.model("mpnet", layers=2))
    table = next(value for name, value in scales.items() if "relative_attention_bias" in name)
    assert table == 0.125 == next(value for name, value in scales.items() if "word_embeddings" in name)


@pytest.mark.parametrize("family", stock.CLASSES)
def test_encoder_and_decoder_both_count_from_their_last_layer(family):
    model = Model(stock.network(family), None)
    scales = LayerwiseLr(decay=0.5).lr_scales(model)
    for stack in model.anatomy.stacks.values():
        top = {id(parameter) for parameter in stack[-1][0].module.parameters()}
        names = [name for name, parameter in model.network.named_parameters() if id(parameter) in top]
        assert {scales[name] for name in names} == {0.5}


@pytest.mark.parametrize("family, stacks", [("bilstm", 1), ("lstm_lm", 1), ("bilstm_lm", 2)])
def test_lstm_layers_learn_more_slowly_the_lower_they_lie(family, stacks):
    model = tiny.model(family, layers=2)
    scales = LayerwiseLr(decay=0.5).lr_scales(model)
    for number in range(2 * stacks):
        own = {value for name, value in scales.items() if f".lstm.{number}." in name}
        assert own == {0.5 if number % 2 else 0.25}
    assert scales["body.embeddings.word_embeddings.weight"] == 0.125
    assert not any(name.startswith(("hidden.", "classifier.")) for name in scales)


def test_a_network_that_stacks_nothing_is_rejected():
    with pytest.raises(
        InputError, match="layerwise_lr: a model of family 'averaging' has no layers on top of each other"
    ):
        LayerwiseLr().prepare(tiny.model("averaging"), CONTEXT)
