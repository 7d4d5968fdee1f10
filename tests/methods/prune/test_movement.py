"""Movement pruning: scores, gradients and penalty worked out by hand."""

import pytest
import torch

import tiny
from niwaki.methods.prune.movement import Movement, Scored
from niwaki.models.forward import Outputs
from niwaki.models.parametrizations import add_parametrization, find_parametrizations, original_weight

from .sparsity import CONTEXT

A, B = torch.tensor([[5.0, -1.0], [2.0, 0.5]]), torch.tensor([[4.0, 3.0]])


def scored() -> tuple[torch.nn.Linear, Scored]:
    module = torch.nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        module.weight.copy_(A)
    scored_weight = Scored(module.weight, 100.0, 0.0)
    add_parametrization(module, scored_weight)
    return module, scored_weight


def test_scores_start_from_the_magnitudes():
    scored_weight = Scored(A, 100.0, 2.0)
    assert scored_weight.values().detach().flatten().tolist() == pytest.approx(
        [2 * size / 2.125 for size in (5, 1, 2, 0.5)]
    )
    assert not Scored(torch.zeros(2, 2), 1.0, 2.0).scores.any()


def test_gradients_of_scores():
    module, scored_weight = scored()
    with torch.no_grad():
        scored_weight.scores.copy_(torch.tensor([[0.01, -0.01], [0.03, -0.02]]))
    scored_weight.cut.fill_(-1.5)  # scores are 1, -1, 3, -2
    assert module.weight.tolist() == [[5, -1], [2, 0]]
    module(torch.tensor([[1.0, 10.0]])).sum().backward()
    assert original_weight(module).grad.tolist() == [[1, 10], [1, 0]]
    assert scored_weight.scores.grad.tolist() == [
        [5, -10],
        [2, 5],
    ]  # slope of the product × weight, also of what is gone
    scored_weight.scores.grad = None
    scored_weight.values().sum().backward()
    assert scored_weight.values().tolist()[0] == pytest.approx([1, -1]) and scored_weight.scores.grad.tolist() == [
        [1, 1],
        [1, 1],
    ]


@pytest.mark.parametrize("scope, cuts", [("global", [4, 4]), ("layer", [2, 5])])
def test_the_highest_scores_remain(scope, cuts):
    (_, one), (_, two) = scored(), scored()
    method = Movement(sparsity=0.5, scope=scope, begin=0.0, end=0.5)
    with torch.no_grad():
        one.scores.copy_(torch.tensor([[1.0, 2.0], [3.0, 9.0]]) / 100)
        two.scores.copy_(torch.tensor([[5.0, 4.0], [6.0, 7.0]]) / 100)
    assert [float(cut) for cut in method._cuts([one, two], 0.5)] == pytest.approx(cuts)
    assert method._cuts([one, two], 0.0) == [None, None]
    assert Movement(how="soft", threshold=0.2)._cuts([one], 1.0) == pytest.approx([-1.3862944])  # log(0.2 / 0.8)


def test_the_penalty_is_the_mean_sigmoid():
    """Scores of 0 are 0.5 of 1, where the slope is a quarter; it is spread over all of them."""
    model = tiny.model("bert", layers=1)
    method = Movement(how="soft", penalty_weight=8.0, prior=0.0)
    model = method.prepare(model, CONTEXT)
    penalty = method.penalty(model, Outputs(torch.zeros(1, 2)))
    penalty.backward()
    found = list(find_parametrizations(model.network, model.anatomy.matrices(), Scored))
    numbers = sum(scored_weight.scores.numel() for _, _, scored_weight in found)
    assert float(penalty.detach()) == pytest.approx(4.0)
    assert float(found[0][2].scores.grad[0, 0]) == pytest.approx(8 * 0.25 / numbers)
