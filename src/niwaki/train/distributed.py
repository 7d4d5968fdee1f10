"""Data-parallel training in several processes, as torchrun starts them. With a single process these functions do nothing.

Each process reads other rows, and all take the same step with the mean of their gradients. DistributedDataParallel is not
used: it ignores parameters that belong to methods, and fails if a loss does not use part of the network.
"""

from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


def is_distributed() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Averages gradients over all processes, in one message."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not is_distributed() or not gradients:
        return
    flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for gradient, mean in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))


def any_process(value: bool, device: torch.device) -> bool:
    """Whether `value` is true in any process; all processes get the same result."""
    if not is_distributed():
        return value
    flag = torch.tensor(int(value), device=device)
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    return bool(flag)


def from_main_process(value: float, device: torch.device) -> float:
    """The first process's value."""
    if not is_distributed():
        return value
    shared = torch.tensor(value, dtype=torch.float64, device=device)
    dist.broadcast(shared, src=0)
    return float(shared)


def broadcast(tensors: Iterable[Tensor]) -> None:
    """Copies the tensors of the first process to all others."""
    if is_distributed():
        for tensor in tensors:
            dist.broadcast(tensor.detach(), src=0)
