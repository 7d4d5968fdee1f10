"""How far a student's logits are from its teacher's: the numbers by hand."""

import math

import pytest
import torch

from niwaki.models.distillation_losses import soft_binary, soft_cross_entropy, squared


def test_soft_cross_entropy_by_hand():
    """T = 2. Teacher (0, 2 ln 3) softens to (1/4, 3/4), student (0, 0) to (1/2, 1/2): KL × T²."""
    teacher, student = torch.tensor([[0.0, 2 * math.log(3)]]), torch.zeros(1, 2)
    kl = 0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.5)
    assert soft_cross_entropy(student, teacher, 2.0).item() == pytest.approx(4 * kl)
    assert soft_cross_entropy(teacher, teacher, 2.0).item() == pytest.approx(0, abs=1e-7)
    assert soft_cross_entropy(student.repeat(5, 1), teacher.repeat(5, 1), 2.0).item() == pytest.approx(4 * kl)  # a mean


def test_its_gradient_keeps_its_size_at_any_temperature():
    sizes = []
    for temperature in (10.0, 20.0):
        student = torch.zeros(1, 2, requires_grad=True)
        soft_cross_entropy(student, torch.tensor([[0.0, 0.1]]), temperature).backward()
        sizes.append(student.grad[0, 0].item())
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-3) and sizes[0] == pytest.approx(0.1 / 4, rel=1e-2)


def test_only_real_tokens_count():
    """Two texts of three tokens, three of them real: their mean, whatever stands in the others."""
    teacher = torch.tensor([0.0, 2 * math.log(3)]).repeat(2, 3, 1)
    student = torch.zeros(2, 3, 2)
    student[0, 0] = teacher[0, 0]  # right at one of the three
    student[0, 2], student[1, 1:] = 1e4, -50.0
    real = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    kl = 0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.5)
    assert soft_cross_entropy(student, teacher, 2.0, real).item() == pytest.approx(4 * kl * 2 / 3)
    assert soft_cross_entropy(student, teacher, 2.0, torch.zeros(2, 3)).item() == 0


def test_soft_binary_by_hand():
    """T = 2. Teacher: on with 3/4 and with 1/2; student: 1/2 each. Only the first label differs; its KL × T²."""
    teacher, student = torch.tensor([[2 * math.log(3), 0.0]]), torch.zeros(1, 2)
    kl = 0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.5)
    assert soft_binary(student, teacher, 2.0).item() == pytest.approx(4 * kl, rel=1e-5)
    assert soft_binary(teacher, teacher, 2.0).item() == pytest.approx(0, abs=1e-6)
    both = soft_binary(torch.zeros(3, 2), torch.full((3, 2), 2 * math.log(3)), 2.0)
    assert both.item() == pytest.approx(8 * kl, rel=1e-5)  # summed over labels, mean over rows


def test_squared_by_hand():
    assert squared(torch.tensor([[1.0], [4.0]]), torch.tensor([[3.0], [4.0]])).item() == 2.0


@pytest.mark.parametrize("of", [soft_binary, lambda s, t, T: soft_cross_entropy(s, t, T)], ids=["binary", "softmax"])
def test_extreme_logits_stay_finite(of):
    student = torch.tensor([[80.0, -80.0]], requires_grad=True)
    loss = of(student, torch.tensor([[-80.0, 80.0]]), 1.0)
    loss.backward()
    assert torch.isfinite(loss) and torch.isfinite(student.grad).all() and loss > 10
