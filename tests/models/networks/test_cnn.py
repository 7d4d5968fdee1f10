"""The CNN against a convolution written out in numpy, run on each text alone; windows by hand."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.models.networks.cnn import windows


def convolved(vectors: np.ndarray, weight: np.ndarray, bias: np.ndarray, width: int) -> np.ndarray:
    """(tokens, size) with filters (filters, width × size) to (tokens, filters); nothing lies beyond the text."""
    tokens, size = vectors.shape
    found = np.tile(bias, (tokens, 1))
    for token in range(tokens):
        for place in range(width):
            at = token + place - (width - 1) // 2
            if 0 <= at < tokens:
                found[token] += weight[:, place * size : (place + 1) * size] @ vectors[at]
    return np.maximum(found, 0)


@pytest.mark.parametrize("head", ["SequenceClassification", "TokenClassification"])
@torch.no_grad()
def test_the_whole_network_written_out_in_numpy(head):
    model = tiny.model("cnn", head=head)
    network, batch = model.network, tiny.batch(model, pairs=True)
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    for ids, mask, wanted in zip(
        batch.inputs["input_ids"].tolist(), batch.mask, tiny.logits(model, batch), strict=True
    ):
        ids = ids[: int(mask.sum())]
        vectors = weights["body.embeddings.word_embeddings.weight"][ids]
        parts = [f"body.convolutions.{number}" for number in range(3)]
        states = np.concatenate(
            [
                convolved(vectors, weights[f"{part}.weight"], weights[f"{part}.bias"], width)
                for part, width in zip(parts, (1, 2, 3), strict=True)
            ],
            axis=1,
        )
        cut = ids.index(model.tokenizer.sep_token_id) + 1
        one, two = states[:cut].max(axis=0), states[cut:].max(axis=0)
        if head == "SequenceClassification":
            seen = np.concatenate([one, two, np.abs(one - two), one * two])[None]
        else:
            seen = np.concatenate([states, np.tile(one, (len(ids), 1)), states * one], axis=1)
        hidden = np.maximum(seen @ weights["hidden.0.weight"].T + weights["hidden.0.bias"], 0)
        found = hidden @ weights["classifier.weight"].T + weights["classifier.bias"]
        answers = wanted[None] if head == "SequenceClassification" else wanted[: len(ids)]
        np.testing.assert_allclose(found, answers.numpy(), atol=5e-5)


def test_windows_by_hand():
    x = torch.tensor([[[1.0], [2.0], [3.0]]])
    assert windows(x, 1).tolist() == [[[1], [2], [3]]]
    assert windows(x, 2).tolist() == [[[1, 2], [2, 3], [3, 0]]]
    assert windows(x, 3).tolist() == [[[0, 1, 2], [1, 2, 3], [2, 3, 0]]]
    assert windows(x[:, :1], 5).tolist() == [[[0, 0, 1, 0, 0]]]
