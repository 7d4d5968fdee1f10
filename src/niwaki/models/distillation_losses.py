"""How far a student's logits are from its teacher's: one function for each way that logits are read."""

import torch
from torch import Tensor
from torch.nn import functional


def soft_cross_entropy(student: Tensor, teacher: Tensor, temperature: float, real: Tensor | None = None) -> Tensor:
    """KL(teacher ‖ student) of the softened distributions over the last axis, mean over the rest (where `real`); ×T² keeps
    its gradient's size at any T."""
    log_student = functional.log_softmax(student.float() / temperature, dim=-1)
    log_teacher = functional.log_softmax(teacher.float() / temperature, dim=-1)
    divergence = functional.kl_div(log_student, log_teacher, reduction="none", log_target=True).sum(-1)
    return _mean(divergence, real) * temperature**2


def soft_binary(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """KL of each label's own on and off, softened; summed over the labels, mean over the batch, ×T²."""
    on = torch.sigmoid(teacher.float() / temperature)
    cross = functional.binary_cross_entropy_with_logits(student.float() / temperature, on, reduction="none")
    entropy = functional.binary_cross_entropy(on, on, reduction="none")
    return (cross - entropy).sum(-1).mean() * temperature**2


def squared(student: Tensor, teacher: Tensor) -> Tensor:
    """Numbers have no temperature."""
    return functional.mse_loss(student.float(), teacher.float())


def _mean(values: Tensor, real: Tensor | None) -> Tensor:
    if real is None:
        return values.mean()
    return (values * real).sum() / real.sum().clamp(min=1)
