"""The torch engine: any model that can be loaded, without padding, in the precision of its weights."""

import numpy as np
import pytest
import torch

import tiny
from engines.kinds import INPUTS, model_of
from niwaki.answers._beam_search import NO_TOKEN
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtimes.torch import Torch
from niwaki.models.head import Head


def arrays_of(model):
    return {name: value.numpy() for name, value in tiny.batch(model).inputs.items()}


def saved(model, folder):
    folder.mkdir()
    model.save(folder)
    return folder


@pytest.mark.parametrize("family", ["bert", "distilbert", "bilstm"])
def test_logits_are_those_of_the_network(tmp_path, family):
    model = tiny.model(family, layers=2)
    engine = Torch(saved(model, tmp_path / "model"), 1)
    wanted = tiny.logits(model, tiny.batch(model)).numpy()
    np.testing.assert_allclose(engine.logits(arrays_of(model)), wanted, atol=1e-5)


def test_token_types_are_not_read_where_the_network_has_none(tmp_path):
    engine = Torch(saved(tiny.model("distilbert", layers=1), tmp_path / "model"), 1)
    assert engine.inputs == ("input_ids", "attention_mask")


def test_another_head_can_be_put_on(tmp_path):
    folder = saved(tiny.model("bert", layers=1), tmp_path / "model")
    engine = Torch(folder, 1, Head(["a", "b", "c"], "TokenClassification"))
    arrays = arrays_of(tiny.model("bert", layers=1))
    assert engine.logits(arrays).shape == (*arrays["input_ids"].shape, 3)


def test_half_precision_weights_give_float32(tmp_path):
    model = tiny.model("bert", layers=1)
    engine = Torch(saved(model, tmp_path / "model"), 1)
    whole = engine.logits(arrays_of(model))
    engine.network.bfloat16()
    found = engine.logits(arrays_of(model))
    assert found.dtype == np.float32 and 0 < np.abs(found - whole).max() < 0.1 * np.abs(whole).max()


def test_layer_ranges_meet_at_the_exit(tmp_path):
    model = tiny.model("bert", layers=3)
    engine = Torch(saved(model, tmp_path / "model"), 1)
    wanted = engine.logits(arrays_of(model))
    rows = Predictor(tmp_path / "model", "torch").tokenize([text for text, _ in tiny.sentences(6)])
    batch = engine.start_layers(rows, np.arange(6), 0)
    logits, hidden = engine.run_layers(batch, 0, [2])
    assert logits.shape == (6, 2) and hidden.shape[2] == 32
    last, nothing = engine.run_layers(batch.select(np.ones(6, bool), hidden), 1, [2])
    np.testing.assert_allclose(last, wanted, atol=1e-5)
    assert len(nothing) == 0


def test_a_network_that_generates_gives_tokens(tmp_path):
    folder = saved(model_of("text"), tmp_path / "model")
    engine = Torch(folder, 1)
    assert engine.generates and (engine.search.beam, engine.search.max_new_tokens) == (2, 6)
    predictor = Predictor(folder, "torch")
    rows = predictor.tokenize(INPUTS["label"][:3])
    found = engine.logits(rows.padded(np.arange(3), 0))
    assert found.shape == (3, 7) and (found[:, 0] <= 0).all()
    assert set(np.unique(found[:, 1:]).astype(int)) <= {NO_TOKEN, *range(tiny.TARGET_TOKENS)}


def test_nothing_is_recorded_for_gradients(tmp_path):
    model = tiny.model("bert", layers=1)
    engine = Torch(saved(model, tmp_path / "model"), 1)
    engine.logits(arrays_of(model))
    assert not engine.network.training
    assert all(parameter.grad is None for parameter in engine.network.parameters()) and torch.is_grad_enabled()
