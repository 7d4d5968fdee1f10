import numpy as np
import torch

import tiny
from niwaki.evaluate.probing.states import states_of
from niwaki.models.forward import Batch, forward
from niwaki.models.record import HIDDEN

SENTENCES = [["a", "good", "film"], ["the", "films", "was"] * 30, ["x"]]


@torch.no_grad()
def test_words_are_read_at_their_first_tokens():
    model = tiny.model("bert")
    found = states_of(model, SENTENCES, "states")
    assert len(found.layers) == 4 and found.layers[0].shape == (94, 32)
    encoding = model.tokenizer.backend_tokenizer.encode(SENTENCES[0], is_pretokenized=True)
    ids = torch.tensor([encoding.ids])
    inputs = {"input_ids": ids, "token_type_ids": torch.zeros_like(ids), "attention_mask": torch.ones_like(ids)}
    hidden = forward(model.anatomy, Batch(inputs, ids, ids), frozenset({HIDDEN})).hidden
    for layer, wanted in zip(found.layers, hidden, strict=True):
        np.testing.assert_allclose(layer[:3], wanted[0, 1:4].half().numpy(), atol=2e-3)
    assert np.abs(found.layers[1]).sum(axis=1).min() > 0  # the long sentence is read to its end


def test_features_of_words_pairs_and_sentences():
    found = states_of(tiny.model("bert"), SENTENCES, "states")
    layer = found.layers[2].astype(np.float32)
    words = found.features(2, np.array([0, 1]), [(1,), (89,)])
    np.testing.assert_array_equal(words, layer[[1, 92]])
    (pair,) = found.features(2, np.array([0]), [(2, 0)])
    np.testing.assert_array_equal(pair, np.concatenate([layer[2], layer[0], layer[2] * layer[0]]))
    sentences = found.features(2, np.array([0, 2]), [(), ()])
    np.testing.assert_allclose(sentences, np.stack([layer[:3].mean(axis=0), layer[93]]), rtol=1e-3, atol=1e-3)


def test_networks_without_attention_have_states_too():
    found = states_of(tiny.model("bilstm"), SENTENCES, "states")
    assert len(found.layers) == 2 and all(len(layer) == 94 for layer in found.layers)
