"""Generation in ONNX Runtime: search settings of a folder, and decoding steps against torch."""

import numpy as np
import pytest
import torch

import tiny
from engines.kinds import INPUTS, model_of
from niwaki.answers._beam_search import START
from niwaki.core.errors import InputError
from niwaki.engines.generation import GraphSteps, search_of
from niwaki.engines.graph_rules import DECODER, ENCODER
from niwaki.engines.onnx_session import open_session
from niwaki.models.generation import TorchDecodeSteps

TEXTS = INPUTS["label"][:4]


@pytest.fixture(scope="module")
def model():
    return model_of("text")


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    return tiny.with_graphs(model, tmp_path_factory.mktemp("generation") / "model")


def test_the_search_is_that_of_the_answer_type(folder):
    search = search_of(folder)
    assert (search.beam, search.max_new_tokens) == (2, 6)


def test_a_config_of_another_answer_type_is_rejected(tmp_path):
    model = tiny.model("bert", layers=1)
    model.network.config.niwaki_answer = {"kind": "label"}
    model.save(tmp_path)
    with pytest.raises(InputError, match=r"config\.json: the network generates text, so niwaki_answer must be of kind"):
        search_of(tmp_path)


@pytest.mark.parametrize("hypotheses", [1, 3])
def test_steps_are_those_of_torch(folder, model, hypotheses):
    """Also when hypotheses change places and a text ends."""
    encoded = model.tokenizer(TEXTS, padding=True, return_tensors="np")
    encoder, decoder = (open_session(folder, name) for name in (ENCODER, DECODER))
    arrays = {name: np.asarray(values, np.int64) for name, values in encoded.items()}
    inputs = {name: torch.from_numpy(values) for name, values in arrays.items()}
    graph = GraphSteps(encoder, decoder, arrays, hypotheses)
    with torch.no_grad():
        lean = TorchDecodeSteps(model.anatomy.decoder, inputs, hypotheses)
        every, same = np.arange(4), np.tile(np.arange(hypotheses), (4, 1))
        moves = [
            (np.full((4, hypotheses), START), same, every),
            (5 + same, same, every),
            (9 + same[:3], same[:3, ::-1], np.array([0, 1, 3])),  # the third text ended
        ]
        for tokens, parents, texts in moves:
            wanted, found = lean(tokens, parents, texts), graph(tokens, parents, texts)
            assert found.shape == (len(texts), hypotheses, tiny.TARGET_TOKENS)
            np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert graph.place == 3 and len(graph.past[0]) == 3 * hypotheses
