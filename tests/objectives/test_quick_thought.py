"""Quick thoughts: the loss by hand, and both kinds of encoders."""

import math

import pytest
import torch

from niwaki.models.forward import forward
from niwaki.objectives.quick_thought import neighbour_loss

from .embedding import prepared


def test_three_sentences_by_hand():
    """The second has two neighbours, the first one, the third none. None is a candidate for itself."""
    scores = torch.tensor([[9.0, 1.0, 2.0], [0.0, 9.0, 1.0], [5.0, 5.0, 9.0]])
    near = torch.tensor([[False, True, False], [True, False, True], [False, False, False]])
    first = -1 + math.log(math.exp(1) + math.exp(2))
    second = -0.5 + math.log(math.exp(0) + math.exp(1))
    assert neighbour_loss(scores, near).item() == pytest.approx((first + second) / 2)


def test_a_batch_without_neighbours_has_no_loss():
    scores = torch.randn(2, 2, requires_grad=True)
    loss = neighbour_loss(scores, torch.zeros(2, 2, dtype=torch.bool))
    loss.backward()
    assert loss.item() == 0 and not scores.grad.any()


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_neighbours_are_those_of_the_same_document(similarity):
    """Six sentences of documents 0 0 0 1 1 2: written out with a shared encoder."""
    given = {"use": "quick_thought", "similarity": similarity, "temperature": 0.5}
    model, objective, _, batch = prepared(given, "bert", layers=1)
    outputs = forward(model.anatomy, objective.batch(batch, torch.Generator()))
    vectors = outputs.logits if similarity == "dot" else torch.nn.functional.normalize(outputs.logits)
    scores, losses = vectors @ vectors.T / 0.5, []
    for row, neighbours in enumerate([[1], [0, 2], [1], [4], [3]]):
        others = [column for column in range(6) if column != row]
        losses.append(scores[row, others].logsumexp(0) - scores[row, neighbours].mean())
    torch.testing.assert_close(objective.loss(outputs, batch), torch.stack(losses).mean())


def test_a_second_encoder_reads_the_candidates():
    model, objective, _, batch = prepared({"use": "quick_thought", "encoders": "two"}, "bert", layers=1)
    noted = objective.batch(batch, torch.Generator())
    own = forward(model.anatomy, noted)
    assert noted.notes["candidates"].shape == own.logits.shape
    assert not torch.allclose(noted.notes["candidates"], own.logits)
    objective.loss(own, noted).backward()
    assert all(
        any(parameter.grad is not None and parameter.grad.any() for parameter in network.parameters())
        for network in (model.network, objective.helpers)
    )
