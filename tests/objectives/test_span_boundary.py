"""Span boundary objective: boundaries by hand, and the loss from a head that is computed step by step."""

import pytest
import torch
from torch.nn import functional

from niwaki.models.forward import forward
from niwaki.models.record import FINAL
from niwaki.objectives.span_boundary import PLACES, boundaries

from .predicting import corrupted

NAME = "span_boundary"


def test_boundaries_and_places_by_hand():
    predicted = torch.tensor([[0, 1, 1, 0, 1, 0, 0], [0, 0, 1, 1, 1, 0, 0]]).bool()
    row, left, right, place = boundaries(predicted)
    assert row.tolist() == [0, 0, 0, 1, 1, 1]
    assert left.tolist() == [0, 0, 3, 1, 1, 1] and right.tolist() == [3, 3, 5, 5, 5, 5]
    assert place.tolist() == [0, 1, 0, 0, 1, 2]


def test_spans_at_the_edge_of_a_sequence_have_boundaries_inside():
    _, left, right, place = boundaries(torch.tensor([[1, 1, 0, 1]]).bool())
    assert left.tolist() == [0, 0, 2] and right.tolist() == [2, 2, 3] and place.tolist() == [0, 1, 0]


@pytest.mark.parametrize("family", ["bert", "electra", "albert", "distilbert"])
@torch.no_grad()
def test_loss_is_masked_language_modeling_and_the_prediction_from_the_boundary(family):
    model, objective, before, after = corrupted({"use": NAME, "rate": 0.4, "weight": 0.5, "place_size": 6}, family)
    assert (after.predicted & ~before.mask.bool()).sum() == 0
    head = objective.helpers
    head.bias.normal_(generator=torch.Generator().manual_seed(0))
    hidden = model.network(**after.inputs, output_hidden_states=True).hidden_states[-1]
    table, losses = model.anatomy.tokens.weight, []
    first, second = (head.layers[number] for number in (0, 3))
    for row in range(len(hidden)):
        inside = after.predicted[row].nonzero()[:, 0].tolist()
        for place in inside:
            start = next(p for p in range(place, -1, -1) if p - 1 not in inside)
            end = next(p for p in range(place, 99) if p + 1 not in inside)
            vector = head.places.weight[min(place - start, PLACES - 1)]
            x = first(torch.cat([hidden[row, start - 1], hidden[row, end + 1], vector]))
            x = functional.layer_norm(functional.gelu(x), x.shape, head.layers[2].weight, head.layers[2].bias)
            x = second(x)
            x = functional.layer_norm(functional.gelu(x), x.shape, head.layers[5].weight, head.layers[5].bias)
            logits = table @ x + head.bias
            losses.append(functional.cross_entropy(logits, before.inputs["input_ids"][row, place]))
    outputs = forward(model.anatomy, after, frozenset({FINAL}))
    wanted = objective.token_loss(outputs, after) + 0.5 * torch.stack(losses).mean()
    torch.testing.assert_close(objective.loss(outputs, after), wanted, atol=1e-5, rtol=0)


def test_the_token_table_learns_from_the_boundary_and_is_no_part_of_the_helpers():
    model, objective, _, after = corrupted(NAME)
    assert not any(value is model.anatomy.tokens.weight for value in objective.helpers.parameters())
    outputs = forward(model.anatomy, after, frozenset({FINAL}))
    (objective.loss(outputs, after) - objective.token_loss(outputs, after)).backward()
    assert model.anatomy.tokens.weight.grad.abs().sum() > 0
