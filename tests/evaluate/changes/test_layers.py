"""Layers of two networks: states and attention as transformers gives them, and reasons where there are none."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from niwaki.evaluate.changes.layers import common_sequences, layer_changes, network_of, states_of
from niwaki.evaluate.changes.similarity import cka


def test_states_and_attention_are_those_of_transformers(answers):
    model = network_of(answers[0])
    found = states_of(model, answers[0].encoded, np.array([0, 4]))
    model.network.set_attn_implementation("eager")
    expected = []
    for number, sequence in enumerate((0, 4)):
        ids = torch.from_numpy(answers[0].encoded.ids[sequence].astype(np.int64))[None]
        with torch.no_grad():
            out = model.network(ids, output_hidden_states=True, output_attentions=True)
        expected.append(out.hidden_states)
        for layer, weights in enumerate(out.attentions):
            assert found.attention[number][layer] == pytest.approx(weights[0].numpy(), abs=1e-5)
    for depth, states in enumerate(found.hidden):
        assert states == pytest.approx(np.concatenate([one[depth][0].numpy() for one in expected]), abs=1e-5)


def test_a_model_is_like_itself(answers):
    found = layer_changes(answers[0], answers[0])
    assert np.diag(found["similarity"]) == pytest.approx(np.ones(3))
    assert found["attention"]["matched"] == [0, 1]
    assert np.array(found["attention"]["layers"]) == pytest.approx(np.zeros((2, 4)), abs=1e-7)


def test_models_of_different_depth_give_a_matrix(answers):
    found = layer_changes(*answers)
    assert np.shape(found["similarity"]) == (3, 2) and np.shape(found["attention"]["layers"]) == (1, 4)
    states = [states_of(network_of(one), one.encoded, np.arange(found["texts"])) for one in answers]
    assert found["similarity"][2][1] == pytest.approx(cka(states[0].hidden[2], states[1].hidden[1]))
    assert np.array(found["attention"]["layers"]).min() > 0 and np.array(found["attention"]["layers"]).max() < 1


def test_texts_that_are_divided_differently_are_named(answers, predictors):
    other = replace(answers[1], encoded=predictors["b"].tokenize(["one"]))
    found = layer_changes(answers[0], other)
    assert found["similarity"] is None and "divide the texts" in found["missing"][0]
    same = answers[0].encoded
    longer = predictors["a"].tokenize(["the film " * 20] * len(same.ids))
    assert "fewer than 64 tokens" in layer_changes(answers[0], replace(answers[1], encoded=longer))["missing"][0]
    assert len(common_sequences(same, same)) == 64
