"""Soft targets."""

import math

import pytest
import torch

from niwaki.methods._method import Context
from niwaki.methods.distill.logits import Logits
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.models.forward import Batch, Outputs

from .outputs import soft


def test_soft_targets_are_mixed_by_weight():
    teacher = torch.tensor([[0.0, 2 * math.log(3)]])
    context = Context(0, lambda batch: Outputs(teacher), None, None, None, soft, None)
    loss = Logits(temperature=2.0, weight=0.25).loss(None, None, Outputs(torch.zeros(1, 2)), torch.tensor(8.0), context)
    kl = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert loss.item() == pytest.approx(0.25 * 4 * kl + 0.75 * 8)


@pytest.mark.parametrize(
    "method", [Logits(temperature=3.0, weight=1.0), TinyBert(embedding=0, hidden=0, attention=0, temperature=3.0)]
)
def test_the_task_compares_the_logits(method):
    """Student's, teacher's, the batch and the temperature, in this order."""
    batch = Batch({"attention_mask": torch.ones(1, 1)}, torch.tensor([0]), torch.tensor([0]))
    state, student, teacher = torch.zeros(1, 1, 4), torch.tensor([[1.0]]), torch.tensor([[2.0]])
    calls = []

    def compare(*given):
        calls.append(given)
        return torch.tensor(5.0)

    context = Context(0, lambda given: Outputs(teacher, (state, state), (state,)), None, None, None, compare, None)
    loss = method.loss(None, batch, Outputs(student, (state, state), (state,)), torch.tensor(0.0), context)
    assert calls == [(student, teacher, batch, 3.0)] and loss.item() == 5.0
